"""One round of a mutant: its scenarios with their decision tables."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentmut.campaign.decision.lane import Lane, SuiteEvidence
from agentmut.stats import KillTable


class InRound(NamedTuple):
    """A mutant in one round: its scenarios with their decision tables, and the drop that the round rules out."""

    lanes: Sequence[Lane]
    suite: SuiteEvidence | None
    delta: float
    weight: float
    """The round's share of alpha."""
    is_last: bool
    hopeful: frozenset[str]
    """Scenarios on which the drop of the finest round could show."""


class RoundTables(NamedTuple):
    """The decision tables of one round that could kill a mutant."""

    tables: Mapping[str, KillTable]
    """By scenario."""
    weight: float
    """The round's share of alpha."""
