"""Relations whose runs show the same facts, usually after a turn was reworded."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from pydantic import JsonValue

from agentmut.nouns import (
    AgentConfig,
    Check,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.base import NoArgument
from agentmut.relations.turns import Change, Turn, changed, lack_of_turns, some_of, turns_of, with_turn
from agentmut.seams import same_facts

_WORDS_A_CHANGE = 5
"""A turn has so many words for each further change: a short one full of slips can no longer be read."""


def some_kinds(argument: JsonValue, known: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds in an argument: one, or a list. Raise `ValueError` for anything else."""
    if argument is None:
        return tuple(default)
    given = [argument] if isinstance(argument, str) else argument
    if not isinstance(given, list) or not given or any(kind not in known for kind in given):
        raise ValueError(f"expected one or a list of {', '.join(known)}; got {argument!r}")
    return tuple(kind for kind in known if kind in given)


class Invariant(NoArgument):
    """A relation whose runs show the same facts. Subclasses define the follow-up."""

    id: ClassVar[str]
    version: ClassVar[int] = 1
    family: ClassVar[Family]
    expectation: ClassVar[Expectation] = Expectation.INVARIANT
    why: ClassVar[str]

    def holds(self, pair: Pair) -> Check | None:
        """Return whether both runs show the same facts."""
        return same_facts(self.id, pair)


class RewordedTurn(Invariant, ABC):
    """One turn of the user has other words with the same meaning, or an irrelevant addition.

    Subclasses list what may change, in groups whose changes can be combined. One group is drawn, and of it
    up to `most` changes.
    """

    most: ClassVar[int] = 1
    nothing: ClassVar[str]
    """Why a scenario has none, in a phrase."""

    @abstractmethod
    def changes(self, turn: Turn) -> Iterable[Sequence[Change]]:
        """Return groups of changes, in a stable order; empty groups do not count."""

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no turn can change, in a phrase; empty if one can."""
        if why := lack_of_turns(scenario):
            return why
        return "" if self._open(scenario, config) else self.nothing

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the same turns with some changes of one of them, chosen at random."""
        found = self._open(source.scenario, source.config)
        if not found:
            return None
        turn, groups = source.rng.choice(found)
        most = min(self.most, 1 + len(turn.text.split()) // _WORDS_A_CHANGE)
        chosen = some_of(source.rng.choice(groups), most, source.rng)
        return reworded(source.scenario, turn, chosen)

    def _open(self, scenario: Scenario, config: AgentConfig) -> list[tuple[Turn, list[Sequence[Change]]]]:
        read = [(turn, list(filter(None, self.changes(turn)))) for turn in turns_of(scenario, config)]
        return [(turn, groups) for turn, groups in read if groups]


def reworded(scenario: Scenario, turn: Turn, chosen: Sequence[Change]) -> FollowUp:
    """Return the follow-up with one changed turn."""
    said = changed(turn.text, chosen)
    what = ", ".join(dict.fromkeys(change.what for change in chosen))
    where = f" in turn {turn.number + 1}" if len(scenario.turns) > 1 else ""
    same: dict[str, JsonValue] = {before: after for change in chosen for before, after in change.same}
    return FollowUp(
        runs=(FollowUpRun(turns=with_turn(scenario.turns, turn.number, said)),),
        description=f"{what}{where}",
        expected={"same": same} if same else {},
    )
