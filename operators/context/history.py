"""What was said earlier in the conversation is lost or mixed up."""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, Edit, History, Reach
from agentmut.seams import Example, OperatorOptions, operator

_KEPT = AgentConfig(history=History.KEPT)


@operator(
    "context.drop_history",
    why="A session id changes, a checkpoint store is not configured, or only the last message is passed on.",
    reach=Reach.CONVERSED,
    examples=[Example(_KEPT, AgentConfig(history=History.DROPPED))],
)
def drop_history(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, where a scenario has several turns: each turn is given without the earlier ones."""
    yield from _changed(config, History.DROPPED, "give each turn without the earlier ones")


@operator(
    "context.swap_speakers",
    why="Roles are mixed up when a stored conversation is read back, so answers come as the user's words.",
    reach=Reach.CONVERSED,
    examples=[Example(_KEPT, AgentConfig(history=History.SWAPPED))],
)
def swap_speakers(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, where a scenario has several turns: user and assistant change roles in the earlier ones."""
    yield from _changed(config, History.SWAPPED, "exchange user and assistant in the earlier turns")


def _changed(config: AgentConfig, after: History, description: str) -> Iterator[Candidate]:
    if config.history is History.KEPT:
        edit = Edit(pointer="/history", before=History.KEPT.value, after=after.value)
        yield Candidate(edits=(edit,), description=description, anchor="history")
