"""Second looks of `relations --survivors`: earlier checks that judged the same relations on the same mutants.

A check with another number of pairs, delta or choice of relations decides stored pairs once more. Whoever keeps the
kills that please has the chances of a false kill of all checks together. So a report names the earlier ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agentmut._base import digest_of
from agentmut.campaign import Environment, planned_at
from agentmut.nouns import EarlierLook
from agentmut.store import SurvivorsReport
from agentmut.usecases.relation_looks import (
    DECIDING,
    DEFINING,
    EVERY_PAIR,
    at_one_time,
    is_fresh,
    reports_besides,
)
from agentmut.usecases.second_looks import COUNTED, looks_told
from agentmut.usecases.stored_reports import shaping

NOT_DECIDING = {"fresh", EVERY_PAIR, "tolerance", "margin"}
"""Settings that decide nothing about a mutant: it is compared with the unchanged agent, whatever is tolerated."""
Question = tuple[str, str, str]
"""A relation, a scenario, and a mutant."""


def with_survivor_looks(
    report: SurvivorsReport, environment: Environment, runs: Path, asked: float
) -> SurvivorsReport:
    """Return the report with the earlier looks at its mutants, in `looks` and in its notes.

    `environment` is that of the runs that were judged, `runs` the project's folder of runs, and `asked` the alpha.
    """
    report = report.model_copy(update={"conditions": digest_of(shaping(environment))})
    others = (one for one in reports_besides(report.run_id, runs) if isinstance(one, SurvivorsReport))
    looks = tuple(_looks(report, others))
    notes = tuple(looks_told(looks, report.alpha, asked))
    return report.model_copy(update={"looks": looks, "notes": (*notes, *report.notes)})


def _looks(report: SurvivorsReport, earlier: Iterable[SurvivorsReport]) -> Iterator[EarlierLook]:
    """Yield the checks among `earlier` that judged the report's question with other settings, each setting once."""
    seen: set[tuple[str, ...]] = set()
    for other in earlier:
        alike = (other.agent, other.conditions) == (report.agent, report.conditions)
        if other.status not in COUNTED or not alike or not at_one_time(other, report):
            continue
        differs = tuple(_differences(other, report))
        setting = (*differs, other.run_id if is_fresh(other) else "")
        if differs and setting not in seen:
            seen.add(setting)
            yield EarlierLook(
                run_id=other.run_id,
                when=planned_at(other.run_id),
                alpha=other.alpha,
                verdict=f"{len(other.killed)} of {other.survivors} survivors killed",
                differs=differs,
            )


def _differences(other: SurvivorsReport, report: SurvivorsReport) -> Iterator[str]:
    """Yield the settings in which `other` differs; none if it judged nothing that the report judges too."""
    before, now = _judged(other), _judged(report)
    both = [one for one in before.keys() & now.keys() if _is_same(before[one], now[one])]
    if not both:
        return
    for name in sorted({*other.settings, *report.settings} - NOT_DECIDING):
        then, here = other.settings.get(name, "none"), report.settings.get(name, "none")
        if then != here:
            yield f"{name} {then} (here {here})"
    if any(before[one].get(DECIDING) != now[one].get(DECIDING) for one in both):
        yield "other facts compared"
    if other.seed != report.seed:
        yield f"seed {other.seed} (here {report.seed})"
    if is_fresh(other) or is_fresh(report):
        yield "trials of its own"
    for at, kind in enumerate(("relations", "scenarios", "mutants")):
        if gone := sorted({one[at] for one in before} - {one[at] for one in now}):
            yield f"{kind} that are left out here: {', '.join(gone)}"


def _judged(report: SurvivorsReport) -> Mapping[Question, Mapping[str, str]]:
    """Return how each mutant was judged by each relation on each scenario."""
    return {
        (one.relation, one.scenario, mutant): one.measured
        for one in report.compared
        for mutant in one.mutants
    }


def _is_same(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether two comparisons ask one question: a relation or a scenario that was changed asks another one."""
    return all(before.get(name) == now.get(name) for name in DEFINING)
