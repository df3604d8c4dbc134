"""The agent is told to be somebody else."""

import re
from collections.abc import Iterator

from agentmut.language import parse, quoted
from agentmut.nouns import AgentConfig, Candidate, prompt_edit
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_NOUNS = """agent assistant analyst tutor teacher coach bot chatbot engineer developer programmer adviser advisor
expert specialist representative clerk editor writer translator reviewer classifier helper consultant
concierge receptionist paralegal lawyer accountant planner librarian researcher scientist guide moderator"""
_JOINS = "of|at|for|in|and|or|who|that|which|with|to|on|by|from"
_PERSONA = re.compile(
    r"\W*(?:you(?:['’]re| are)|(?:please |always )?act as|you(?: will|['’]ll)? (?:act|work|serve) as"
    r"|(?:I want|I['’]d like|I would like) you to (?:act|work|serve) as|I want you to be"
    r"|your (?:role|job|task) is(?: to (?:be|act as|work as|serve as))?)\s+"
    r"(?:(?:called |named )?[*_]*+[A-Z]\w++[*_]*+, )?"
    rf"(?P<role>(?:an?|the) (?:(?!(?:{_JOINS})\b)[\w-]+,? ){{0,5}}(?:{'|'.join(_NOUNS.split())})\b)",
    re.IGNORECASE,
)
_ROLES = (
    (
        re.compile(r"support|service|help|desk", re.IGNORECASE),
        "a sales representative",
    ),
    (re.compile(r"concierge|receptionist|clerk", re.IGNORECASE), "a customer service agent"),
    (re.compile(r"sales|market", re.IGNORECASE), "a customer support agent"),
    (re.compile(r"cod|software|engineer|develop|program", re.IGNORECASE), "a technical writer"),
    (re.compile(r"tutor|teach|coach", re.IGNORECASE), "an exam grader"),
    (re.compile(r"data|analy", re.IGNORECASE), "a report writer"),
)
_OTHERWISE = "a helpful assistant"


@operator(
    "prompt.swap_persona",
    why="A prompt is started from a copy of another agent's, and the first line is left as it was.",
    examples=[
        prompt_example(
            "You are a helpful support agent of Acme. Be brief.",
            "You are a sales representative of Acme. Be brief.",
        )
    ],
)
def swap_persona(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield at most one mutant: the first "You are a ..." names another role from a small table.

    Names of the agent and of its organisation stay. Nothing where no role is named.
    """
    document = parse(config.prompt, config.tool_names)
    for instruction in document.instructions:
        found = _PERSONA.match(instruction.text)
        if found and not document.protects(*_placed(instruction.start, found)):
            start, end = _placed(instruction.start, found)
            role = found["role"]
            yield Candidate(
                edits=(prompt_edit(config.prompt, start, end, other_role(role)),),
                description=f"make {quoted(role)} {quoted(other_role(role))}",
                anchor=instruction.text,
            )
            return


def _placed(offset: int, found: re.Match[str]) -> tuple[int, int]:
    return offset + found.start("role"), offset + found.end("role")


def other_role(role: str) -> str:
    """Return a role that is plainly different from the given one.

    >>> other_role("a patient maths tutor")
    'an exam grader'
    """
    return next((other for pattern, other in _ROLES if pattern.search(role)), _OTHERWISE)
