"""What a comparison of two results says, in the words of the terminal, of Markdown and of HTML."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentmut.nouns import Intent, Status
from agentmut.report.report_wording import counted, money
from agentmut.store import Comparison, InCommon, MutantChange


class Kind(NamedTuple):
    """One of the lists of a comparison."""

    title: str
    changes: Sequence[MutantChange]
    worse: bool = False
    """Whether the newer result is worse for them."""


def kinds(found: Comparison) -> list[Kind]:
    """Return the lists that are not empty; lists of what became worse come first."""
    survivors = [change for change in found.appeared if _survives(change)]
    named = (
        Kind("No longer noticed: killed before", found.newly_unnoticed, True),
        Kind("New survivors: mutants that the older run does not have", survivors, True),
        Kind("Newly brittle: harmless changes that now lower a pass rate", found.newly_brittle, True),
        Kind("Newly noticed: killed now", found.newly_killed),
        Kind("No longer brittle", found.no_longer_brittle),
        Kind("With another status", found.changed_otherwise),
        Kind("Other new mutants", [change for change in found.appeared if not _survives(change)]),
        Kind("Mutants that are gone", found.gone),
    )
    return [kind for kind in named if kind.changes]


def _survives(change: MutantChange) -> bool:
    """Return whether a change that should be noticed is not noticed in the newer result."""
    return change.intent is Intent.DEGRADE and change.new in (Status.SURVIVED, Status.NO_COVERAGE)


def in_common(found: InCommon) -> str:
    """Return the transitions of mutants that both runs decided: the fair part of a comparison."""
    if found.p is None:
        return "No mutant was decided in both runs, so that no mutant can be compared with itself."
    return (
        f"Of {counted(found.mutants, 'mutant')} decided in both, {found.killed_old} were killed before and "
        f"{found.killed_new} are now: {found.newly_killed} newly, {found.newly_unnoticed} no longer "
        f"(McNemar p = {found.p:.2g}, if mutants are independent)."
    )


def costs(found: Comparison) -> Iterator[str]:
    """Yield the cost of each run."""
    for which, run in (("old", found.old), ("new", found.new)):
        yield (
            f"{which}: {counted(run.cost.trials, 'run')} of the agent, {run.cost.tokens:,} tokens, {money(run.cost)}, "
            f"{run.cost.seconds:.0f} s"
        )
