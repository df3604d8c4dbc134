"""Requests of an orchestrator that keeps a ledger, as AutoGen's `MagenticOneGroupChat` does.

Before each step it asks in JSON whether the request is satisfied and who is to do what. Each member whose description
has to do with the request is asked once, the best fitting one first. The orchestrator's messages tell whom
it asked.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from agentmut.nouns import ModelReply, ModelRequest, Role, Usage
from agentmut.simulator.mind.language import topics

_ASKS = "DO NOT DEVIATE FROM THIS SCHEMA"
_TASK_BEGINS = re.compile(r"working on the following (?:request|task):\n")
_TASK_ENDS = re.compile(r"\n\n(?:And we have|We have completed)")
_NAMES = re.compile(r"^ *- Who should speak next\? \(select from: (.*?)\)$", re.M)
_FINAL = "provide the final answer to the original request"
_MOST_MEMBERS = 100


def answered(request: ModelRequest, reply: Callable[..., ModelReply], **options: Any) -> ModelReply:
    """Return `reply`'s answer to a request, an entry of the ledger, or the final answer from what members said."""
    last = request.messages[-1].text if request.messages else ""
    names = _NAMES.search(last) if _ASKS in last else None
    if names:
        entry = ledger_entry(last, names[1].split(", ")[:_MOST_MEMBERS], _entries(request))
        return _reply(request, json.dumps(entry))
    found = _findings(request) if _FINAL in last else ""
    return _reply(request, found) if found else reply(request, **options)


def ledger_entry(prompt: str, names: list[str], asked: set[str]) -> dict[str, dict[str, Any]]:
    """Return the answers to a ledger's questions, each with a reason.

    >>> team = "cook: Cooks.\\nguard: Opens gates."
    >>> prompt = f"working on the following request:\\n\\nOpen the gate.\\n\\nAnd we have\\n\\n{team}"
    >>> entry = ledger_entry(prompt, ["cook", "guard"], set())
    >>> entry["is_request_satisfied"]["answer"], entry["instruction_or_question"]["answer"]
    (False, 'guard, please help with this: Open the gate.')
    >>> ledger_entry(prompt, ["cook", "guard"], {"guard"})["is_request_satisfied"]["answer"]
    True
    """
    begins = _TASK_BEGINS.search(prompt)
    ends = begins and _TASK_ENDS.search(prompt, begins.end())
    task = prompt[begins.end() : ends.start()].strip() if begins and ends else ""
    due = [name for name in _fitting(prompt, task, names) if name not in asked]
    name = due[0] if due else names[0]
    answers: Mapping[str, tuple[str, Any]] = {
        "is_request_satisfied": (
            "Everybody whom it concerns has answered." if not due else "It is not yet.",
            not due,
        ),
        "is_in_loop": ("Nobody is asked twice.", False),
        "is_progress_being_made": ("Each answer adds something.", True),
        "next_speaker": (f"{name} knows most of it.", name),
        "instruction_or_question": (
            "The request says what is needed.",
            f"{name}, please help with this: {task}",
        ),
    }
    return {key: {"reason": reason, "answer": answer} for key, (reason, answer) in answers.items()}


def _fitting(prompt: str, task: str, names: list[str]) -> list[str]:
    """Return the members who have to do with a task, the best fitting first; the first member if nobody has."""
    about = topics(task)

    def fit(name: str) -> int:
        described = re.search(rf"^{re.escape(name)}: (.*)$", prompt, re.M)
        return len(about & topics(f"{name.replace('_', ' ')} {described[1] if described else ''}"))

    fits = {name: fit(name) for name in names}
    return sorted((name for name in names if fits[name]), key=lambda name: -fits[name]) or names[:1]


def _entries(request: ModelRequest) -> set[str]:
    return {message.text.partition(",")[0] for message in request.messages if message.role is Role.ASSISTANT}


def _findings(request: ModelRequest) -> str:
    """Return what members have said: the messages after those that ask them."""
    pairs = zip(request.messages, request.messages[1:-1], strict=False)
    told = (
        said.text
        for asking, said in pairs
        if ", please help with this: " in asking.text and said.role is Role.USER
    )
    return " ".join(told)


def _reply(request: ModelRequest, text: str) -> ModelReply:
    read = sum(len(message.text) for message in request.messages)
    usage = Usage(input_tokens=read // 4, output_tokens=1 + len(text) // 4)
    return ModelReply(model=request.model, text=text, usage=usage)
