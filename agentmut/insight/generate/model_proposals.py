"""Inputs written by a model. Its answer is untrusted: it may only become the text of an input."""

import json
import re
from collections.abc import Iterator, Sequence

from agentmut._base import storable
from agentmut.insight.generate.proposal_material import Material, whole
from agentmut.insight.generate.proposals import Aim, Proposal, nearest

MOST = 12
"""Inputs taken from one answer."""
LONGEST = 2000
"""Characters of one input."""
INSTRUCTION = (
    "You write test inputs for another assistant. You are given its instructions, its tools, inputs of its present "
    "tests, and what none of them exercises. Write what users would say so that these things happen: one short input "
    "for each, in the manner of the present ones, with values that occur there. Answer with JSON alone: "
    '{"inputs": [{"for": "<the thing, as it is named>", "input": "<what the user says>"}]}'
)


def question(known: Material, aims: Sequence[Aim]) -> str:
    """Return the question to the model, as a function of agent, suite and aims."""
    return json.dumps(
        {
            "instructions": known.config.prompt,
            "tools": [tool.model_dump(include={"name", "description", "parameters"}) for tool in known.config.tools],
            "present inputs": [whole(scenario.turns) for scenario in known.scenarios][:40],
            "not exercised": [aim.item + (f": {aim.rule}" if aim.rule else "") for aim in aims if aim.item][:MOST],
        },
        ensure_ascii=False,
        sort_keys=True,
    )  # fmt: skip


def answered_proposals(answer: str, known: Material, aims: Sequence[Aim], model: str) -> Iterator[Proposal]:
    """Yield the inputs in a model's answer; none if it has no JSON of the requested form."""
    items = {aim.item for aim in aims}
    for entry in _entries(answer)[:MOST]:
        said = entry.get("input")
        if not isinstance(said, str) or not said.strip() or len(said) > LONGEST:
            continue
        text = " ".join(re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", storable(said)).split())
        named = entry.get("for")
        aimed = (named,) if isinstance(named, str) and named in items else ()
        yield Proposal((text,), nearest(known, text), f"written by {model}", aimed)


def _entries(answer: str) -> list[dict[str, object]]:
    start, end = answer.find("{"), answer.rfind("}")
    try:
        read = json.loads(answer[start : end + 1]) if 0 <= start < end else {}
    except (ValueError, RecursionError):
        return []
    listed = read.get("inputs") if isinstance(read, dict) else None
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
