"""The source runs of a scenario, divided: some calibrate the comparison, the others start pairs."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agentmut.judging import Comparison, comparison_for
from agentmut.nouns import AgentTrace, Ending, Execution, Footprint, Scenario
from agentmut.project import RelationSettings, named

FITTING = 3
"""One in so many runs shows which facts are stable, and is used for nothing else."""


class Ran(NamedTuple):
    """The part of an evidence run that relations see."""

    repeat: int
    trace: AgentTrace
    answered: bool
    """Whether there is an answer to judge: the agent neither raised, nor timed out, nor said nothing."""
    reason: str
    """Why there is none."""

    @property
    def masked(self) -> bool:
        """Return whether secrets were removed from the trace, since a mask would look like a difference."""
        return self.trace.judged is not None


class SourceMaterial(NamedTuple):
    """The material for pairs on one scenario."""

    comparison: Comparison
    runs: tuple[Ran, ...]
    """In the order of their repeats, without those that the comparison was fitted to."""
    footprints: tuple[Footprint, ...]
    """What all runs sent, each once."""
    first_free: int
    """The first repeat of the scenario that no source run has."""
    fitted: tuple[Ran, ...] = ()
    """The runs that the comparison was fitted to: sources only of what judges a run alone, which compares nothing."""

    @property
    def sources(self) -> tuple[Ran, ...]:
        """Return the runs that pairs may start from; first the runs that pairs of the identity start from.

        A run on the same side of both kinds of pairs makes them alike. One that ends a pair of the identity and starts
        one of the relation may not, where the relation tells the sides apart: those come last, and are seldom needed.
        """
        return tuple(run for run in (*self.runs[::2], *self.runs[1::2]) if run.answered)

    def groups(self, size: int) -> list[tuple[Ran, ...]]:
        """Return disjoint groups of `size` runs, in the order of their repeats."""
        return [self.runs[size * i : size * (i + 1)] for i in range(len(self.runs) // size)]

    def controls(self, again: int = 1) -> Iterator[tuple[Ran, tuple[Ran, ...]]]:
        """Yield disjoint groups of the same agent's runs: one run, and `again` further ones (the identity relation).

        The first has an answer, as every source has. The others are taken as they come, as follow-up runs are: an
        agent that fails by itself now and then violates every relation as often as it violates the identity.
        """
        groups = self.groups(again + 1)
        return ((first, tuple(others)) for first, *others in groups if first.answered)


def first_free(executions: Iterable[tuple[int, Execution]]) -> int:
    """Return the repeat after the last of these."""
    return 1 + max((repeat for repeat, _ in executions), default=-1)


def ran(repeat: int, execution: Execution) -> Ran | None:
    """Return the run; None if it is no evidence about the agent."""
    ending = execution.ending
    if not ending.is_evidence:
        return None
    return Ran(repeat, execution.trace, ending is Ending.ANSWERED, execution.reason)


def material_of(
    scenario: Scenario, executions: Iterable[tuple[int, Execution]], settings: RelationSettings
) -> SourceMaterial:
    """Divide the runs of a scenario. Raises `UsageError` for facts to compare that cannot be had."""
    kept = sorted(executions, key=lambda item: item[0])
    compare = None if settings.compare is None else tuple(map(named, settings.compare))
    found = [run for repeat, execution in kept if (run := ran(repeat, execution))]
    fitting = [run.trace for run in found[: len(found) // FITTING] if run.answered]
    footprints = dict.fromkeys(execution.footprint for _, execution in kept)
    return SourceMaterial(
        comparison=comparison_for(scenario, fitting, compare),
        runs=tuple(found[len(found) // FITTING :]),
        footprints=tuple(footprints),
        first_free=first_free(kept),
        fitted=tuple(found[: len(found) // FITTING]),
    )


def others(material: SourceMaterial, executions: Iterable[tuple[int, Execution]]) -> SourceMaterial:
    """Return another agent's runs on the same scenario, for the same comparison."""
    kept = sorted(executions, key=lambda item: item[0])
    runs = tuple(run for repeat, execution in kept if (run := ran(repeat, execution)))
    return material._replace(runs=runs, first_free=first_free(kept), fitted=())
