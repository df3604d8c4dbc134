"""Second looks of `relations`: earlier checks that judged the same relations on the same agent with other settings.

A check with another tolerance or another number of pairs decides stored pairs once more. Whoever keeps the finding that
pleases has the chances of a false FAIL of all checks together. So a report names the earlier ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from agentmut._base import UsageError, digest_of
from agentmut.assessment import SAME_AGENT
from agentmut.campaign import Environment, planned_at
from agentmut.nouns import EarlierLook
from agentmut.store import RelationReport, SurvivorsReport, read_relations
from agentmut.usecases.second_looks import COUNTED, looks_told
from agentmut.usecases.stored_reports import shaping

WRONG = "flag an agent that violates no relation"
"""What alpha bounds, after the looks as the subject."""
EVERY_PAIR = "to_the_end"
"""Later pairs change no decision of a relation on one scenario, only that over several scenarios together."""
WORDS = {EVERY_PAIR: "every pair run"}
DEFINING = ("the scenario", "the relation's version")
"""What makes a comparison another question, of the things in `measured`."""
DECIDING = "what is compared"
_Report = TypeVar("_Report", RelationReport, SurvivorsReport)


class Checks(NamedTuple, Generic[_Report]):
    """What checks of one kind judge, so that one check can be told to be another look at what another one judged."""

    agent: Callable[[_Report], str]
    """Returns the digest of the agent that was judged."""
    kinds: tuple[str, ...]
    """What a question names, in the plural."""
    judged: Callable[[_Report], Mapping[tuple[str, ...], Mapping[str, str]]]
    """Returns what was measured for each question. Another value of one of `DEFINING` makes another question."""
    verdict: Callable[[_Report], str]
    not_deciding: Callable[[_Report, _Report], set[str]]
    """Returns the settings that decide nothing in a pair of reports."""


def with_relation_looks(
    report: RelationReport, environment: Environment, runs: Path, asked: float
) -> RelationReport:
    """Return the report with the earlier looks at its relations, in `looks` and in its notes.

    `environment` is that of the runs that were judged, `runs` the project's folder of runs, and `asked` the alpha.
    """
    report = report.model_copy(update={"conditions": digest_of(shaping(environment))})
    others = (one for one in reports_besides(report.run_id, runs) if isinstance(one, RelationReport))
    found = looks(report, others, RELATION_CHECKS)
    notes = tuple(looks_told(found, report.alpha, asked, WRONG))
    return report.model_copy(update={"looks": found, "notes": (*notes, *report.notes)})


def reports_besides(run_id: str, runs: Path) -> Iterator[RelationReport | SurvivorsReport]:
    """Yield the reports of the other checks so far, the latest first; those that cannot be read are left out."""
    for path in sorted(runs.glob("*/relations.json"), reverse=True):
        if path.parent.name == run_id:
            continue
        try:
            found = read_relations(path)
        except UsageError:
            continue
        yield found


def is_fresh(report: RelationReport | SurvivorsReport) -> bool:
    """Return whether a check took no run from the store."""
    return "fresh" in report.settings


def at_one_time(other: RelationReport | SurvivorsReport, report: RelationReport | SurvivorsReport) -> bool:
    """Return whether both may have judged the same runs, or ran anew while the service is taken to be the same."""
    if not (is_fresh(other) or is_fresh(report)):
        return True
    then, now = planned_at(other.run_id), planned_at(report.run_id)
    return not (then and now) or _moment(now) - _moment(then) <= timedelta(seconds=SAME_AGENT)


def _moment(when: str) -> datetime:
    return datetime.strptime(when, "%Y-%m-%d %H:%M UTC")


def looks(report: _Report, earlier: Iterable[_Report], checks: Checks[_Report]) -> tuple[EarlierLook, ...]:
    """Return the checks among `earlier` that judged the report's question with other settings, each setting once."""
    found: dict[tuple[str, ...], EarlierLook] = {}
    for other in earlier:
        same_agent = checks.agent(other) == checks.agent(report)  # reports of before 0.2 tell no conditions
        alike = same_agent and other.conditions == report.conditions
        if other.status not in COUNTED or not alike or not at_one_time(other, report):
            continue
        differs: tuple[str, ...] = tuple(_differences(other, report, checks))
        setting = (*differs, other.run_id if is_fresh(other) else "")
        if differs and setting not in found:
            found[setting] = EarlierLook(
                run_id=other.run_id,
                when=planned_at(other.run_id),
                alpha=other.alpha,
                verdict=checks.verdict(other),
                differs=differs,
            )
    return tuple(found.values())


def _differences(other: _Report, report: _Report, checks: Checks[_Report]) -> Iterator[str]:
    """Yield the settings in which `other` differs; none if it judged nothing that the report judges too."""
    before, now = checks.judged(other), checks.judged(report)
    both = [
        one
        for one in before.keys() & now.keys()
        if all(before[one].get(name) == now[one].get(name) for name in DEFINING)
    ]
    if not both:
        return
    for name in sorted({*other.settings, *report.settings} - checks.not_deciding(other, report)):
        then, here = other.settings.get(name, "none"), report.settings.get(name, "none")
        if then != here:
            yield f"{WORDS.get(name, name)} {then} (here {here})"
    if any(before[one].get(DECIDING) != now[one].get(DECIDING) for one in both):
        yield "other facts compared"
    if other.seed != report.seed:
        yield f"seed {other.seed} (here {report.seed})"
    if is_fresh(other) or is_fresh(report):
        yield "trials of its own"
    for at, kind in enumerate(checks.kinds):
        if gone := sorted({one[at] for one in before} - {one[at] for one in now}):
            yield f"{kind} that are left out here: {', '.join(gone)}"


def _has_pooled(report: RelationReport) -> bool:
    return any(one.pooled for one in report.relations)


RELATION_CHECKS = Checks[RelationReport](
    agent=lambda report: report.agent.digest,
    kinds=("relations", "scenarios"),
    judged=lambda report: {(row.relation, row.scenario): row.measured for row in report.rows if row.pairs},
    verdict=lambda report: f"{report.finding.value} ({report.reason})",
    not_deciding=lambda other, report: (
        {"fresh"} if _has_pooled(other) or _has_pooled(report) else {"fresh", EVERY_PAIR}
    ),
)
"""Only rows that compared pairs of runs judged their question."""
