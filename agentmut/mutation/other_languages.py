"""What operators that need English words leave alone in a prompt that has other languages."""

from collections.abc import Iterator, Sequence

from agentmut.language import parse, reads_as_english
from agentmut.nouns import AgentConfig

FOREIGN = 0.25
"""The share of instructions in other languages from which on a note says so: names and data of English prompts count
as foreign now and then, in at most 1 of 7 instructions of the prompts in this repository."""


def has_english(config: AgentConfig) -> bool:
    """Return whether at least one instruction of the prompt is English."""
    return any(_by_language(config))


def other_language_note(config: AgentConfig, needing: Sequence[str]) -> Iterator[str]:
    """Yield a note, without a full stop, where the operators `needing` English leave instructions alone."""
    found = _by_language(config) if needing else []
    foreign = found.count(False)
    if not foreign or foreign < FOREIGN * len(found):
        return
    which = (
        "the prompt is"
        if foreign == len(found)
        else f"{foreign} of {len(found)} instructions of the prompt are"
    )
    several = f"{len(needing)} operators that need" if len(needing) > 1 else "the operator that needs"
    leave = "leave" if len(needing) > 1 else "leaves"
    yield (
        f"{which} not English: {several} English words {leave} {'it' if foreign == len(found) else 'them'} alone "
        f"({needing[0]}{' and others' if len(needing) > 1 else ''}). Operators that drop, repeat, swap or cut "
        "instructions work in every language"
    )


def _by_language(config: AgentConfig) -> list[bool]:
    """Return of each instruction whether it is English."""
    return [reads_as_english(one.text) for one in parse(config.prompt, config.tool_names).instructions]
