"""Second looks of `relations --survivors`: earlier checks that judged the same relations on the same mutants.

A check with another number of pairs, delta or choice of relations decides stored pairs once more. Whoever keeps the
kills that please has the chances of a false kill of all checks together. So a report names the earlier ones.
"""

from collections.abc import Mapping
from pathlib import Path

from agentmut._base import digest_of
from agentmut.campaign import Environment
from agentmut.store import SurvivorsReport
from agentmut.usecases.relation_looks import EVERY_PAIR, Checks, looks, reports_besides
from agentmut.usecases.second_looks import looks_told
from agentmut.usecases.stored_reports import shaping

NOT_DECIDING = {"fresh", EVERY_PAIR, "tolerance", "margin"}
"""Settings that decide nothing about a mutant: it is compared with the unchanged agent, whatever is tolerated."""
Question = tuple[str, ...]
"""A relation, a scenario, and a mutant."""


def with_survivor_looks(
    report: SurvivorsReport, environment: Environment, runs: Path, asked: float
) -> SurvivorsReport:
    """Return the report with the earlier looks at its mutants, in `looks` and in its notes.

    `environment` is that of the runs that were judged, `runs` the project's folder of runs, and `asked` the alpha.
    """
    report = report.model_copy(update={"conditions": digest_of(shaping(environment))})
    others = (one for one in reports_besides(report.run_id, runs) if isinstance(one, SurvivorsReport))
    found = looks(report, others, SURVIVOR_CHECKS)
    notes = tuple(looks_told(found, report.alpha, asked))
    return report.model_copy(update={"looks": found, "notes": (*notes, *report.notes)})


def _judged(report: SurvivorsReport) -> Mapping[Question, Mapping[str, str]]:
    """Return how each mutant was judged by each relation on each scenario."""
    return {
        (one.relation, one.scenario, mutant): one.measured
        for one in report.compared
        for mutant in one.mutants
    }


SURVIVOR_CHECKS = Checks[SurvivorsReport](
    agent=lambda report: report.agent,
    kinds=("relations", "scenarios", "mutants"),
    judged=_judged,
    verdict=lambda report: f"{len(report.killed)} of {report.survivors} survivors killed",
    not_deciding=lambda other, report: NOT_DECIDING,
)
