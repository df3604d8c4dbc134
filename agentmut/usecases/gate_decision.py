"""The deployment gate: requirements on evidence, and deploy, block or manual (AgentAssay, Definitions 6.2 and 6.3).

The paper's Eq. 26 deploys if the suite's verdict is PASS and its coverage is enough, blocks if the verdict is FAIL, and
leaves the rest to a person. Here every requirement has a standing of its own, and the same three ways come of them:
one that is not met blocks, one without enough evidence goes the way that the project says, and a gap that more runs
of the same kind would not close (too little coverage, no evidence at all) goes to a person.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from agentmut._base import Frozen
from agentmut.nouns import Origins

Inconclusive = Literal["manual", "block", "deploy"]


class Decision(StrEnum):
    """The decision of the gate."""

    DEPLOY = "deploy"
    """Every requirement is met, or the project lets through those that are left open."""
    BLOCK = "block"
    """There is evidence that a requirement is not met."""
    MANUAL = "manual"
    """A person has to decide."""


class Standing(StrEnum):
    """The state of a requirement."""

    MET = "met"
    """There is evidence for it."""
    FAILED = "not met"
    """There is evidence against it."""
    OPEN = "open"
    """There is not enough evidence either way: `gate.inconclusive` says what follows."""
    SHORT = "short"
    """What was looked at is too little, or took too much, for the rest to count without a person."""
    MISSING = "no evidence"
    """No current evidence is stored for the requirement."""


class Requirement(Frozen):
    """One requirement, and the evidence on it."""

    name: str
    standing: Standing
    reason: str
    run: str = ""
    """The run that the evidence is of; empty where it is of several, or of none."""


class GateReport(Frozen):
    """The decision of the gate, and its reasons."""

    schema_version: int = 1
    kind: str = "gate"
    agentmut_version: str
    project: str
    decision: Decision
    reasons: tuple[str, ...]
    """The requirements behind a decision other than deploy; what a deploy let through."""
    requirements: tuple[Requirement, ...]
    origins: Origins = Origins()
    """Whose the runs behind the reports are. Each report counts once."""
    inconclusive: Inconclusive
    left_out: tuple[str, ...] = ()
    """Evidence that was found and not used, with the reason."""
    notes: tuple[str, ...] = ()


def decide(requirements: Iterable[Requirement], inconclusive: Inconclusive = "manual") -> Decision:
    """Decide by Eq. 26 over any number of requirements: the most serious standing counts.

    Without any requirement nothing is known, and a person has to decide.
    """
    ways = {_WAYS.get(each.standing, Decision(inconclusive)) for each in requirements}
    for way in (Decision.BLOCK, Decision.MANUAL):
        if way in ways:
            return way
    return Decision.DEPLOY if ways else Decision.MANUAL


def reasons_of(
    requirements: Iterable[Requirement], decision: Decision, inconclusive: Inconclusive
) -> tuple[str, ...]:
    """Return the requirements behind the decision; for deploy, the open requirements that were accepted."""
    ways = {Standing.OPEN: Decision(inconclusive), **_WAYS}
    return tuple(
        f"{each.name}: {each.reason}"
        for each in requirements
        if each.standing is not Standing.MET and ways[each.standing] is decision
    )


_WAYS = {
    Standing.MET: Decision.DEPLOY,
    Standing.FAILED: Decision.BLOCK,
    Standing.SHORT: Decision.MANUAL,
    Standing.MISSING: Decision.MANUAL,
}
