"""Second looks of `relations`: earlier checks that judged the same relations on the same agent with other settings.

A check with another tolerance or another number of pairs decides stored pairs once more. Whoever keeps the finding that
pleases has the chances of a false FAIL of all checks together. So a report names the earlier ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from agentmut._base import UsageError, digest_of
from agentmut.assessment import SAME_AGENT
from agentmut.campaign import Environment, planned_at
from agentmut.nouns import EarlierLook
from agentmut.store import RelationReport, RelationRow, SurvivorsReport, read_relations
from agentmut.usecases.second_looks import COUNTED, looks_told
from agentmut.usecases.stored_reports import shaping

WRONG = "flag an agent that violates no relation"
"""What alpha bounds, after the looks as the subject."""
EVERY_PAIR = "to_the_end"
"""Later pairs change no decision of a relation on one scenario, only that over several scenarios together."""
WORDS = {EVERY_PAIR: "every pair run"}
DEFINING = ("the scenario", "the relation's version")
"""What makes a row another question, of the things in `measured`."""
DECIDING = "what is compared"
Question = tuple[str, str]
"""A relation and a scenario."""


def with_relation_looks(
    report: RelationReport, environment: Environment, runs: Path, asked: float
) -> RelationReport:
    """Return the report with the earlier looks at its relations, in `looks` and in its notes.

    `environment` is that of the runs that were judged, `runs` the project's folder of runs, and `asked` the alpha.
    """
    report = report.model_copy(update={"conditions": digest_of(shaping(environment))})
    others = (one for one in reports_besides(report.run_id, runs) if isinstance(one, RelationReport))
    looks = tuple(_looks(report, others))
    notes = tuple(looks_told(looks, report.alpha, asked, WRONG))
    return report.model_copy(update={"looks": looks, "notes": (*notes, *report.notes)})


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


def _looks(report: RelationReport, earlier: Iterable[RelationReport]) -> Iterator[EarlierLook]:
    """Yield the checks among `earlier` that judged the report's question with other settings, each setting once."""
    seen: set[tuple[str, ...]] = set()
    for other in earlier:
        if other.status not in COUNTED or not _one_agent(other, report) or not at_one_time(other, report):
            continue
        differs = tuple(_differences(other, report))
        setting = (*differs, other.run_id if is_fresh(other) else "")
        if differs and setting not in seen:
            seen.add(setting)
            yield EarlierLook(
                run_id=other.run_id,
                when=planned_at(other.run_id),
                alpha=other.alpha,
                verdict=f"{other.finding.value} ({other.reason})",
                differs=differs,
            )


def _one_agent(other: RelationReport, report: RelationReport) -> bool:
    """Return whether both judged the same agent in the same environment. Reports of before 0.2 do not tell."""
    return other.agent.digest == report.agent.digest and other.conditions == report.conditions


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


def _differences(other: RelationReport, report: RelationReport) -> Iterator[str]:
    """Yield the settings in which `other` differs; none if it judged nothing that the report judges too."""
    before, now = _judged(other), _judged(report)
    both = [question for question in before.keys() & now.keys() if _is_same(before[question], now[question])]
    if not both:
        return
    alike = {"fresh"} if _has_pooled(other) or _has_pooled(report) else {"fresh", EVERY_PAIR}
    for name in sorted({*other.settings, *report.settings} - alike):
        then, here = other.settings.get(name, "none"), report.settings.get(name, "none")
        if then != here:
            yield f"{WORDS.get(name, name)} {then} (here {here})"
    if any(before[one].measured.get(DECIDING) != now[one].measured.get(DECIDING) for one in both):
        yield "other facts compared"
    if other.seed != report.seed:
        yield f"seed {other.seed} (here {report.seed})"
    if is_fresh(other) or is_fresh(report):
        yield "trials of its own"
    for at, kind in enumerate(("relations", "scenarios")):
        if gone := sorted({one[at] for one in before} - {one[at] for one in now}):
            yield f"{kind} that are left out here: {', '.join(gone)}"


def _has_pooled(report: RelationReport) -> bool:
    return any(one.pooled for one in report.relations)


def _judged(report: RelationReport) -> Mapping[Question, RelationRow]:
    """Return the rows that compared pairs of runs."""
    return {(row.relation, row.scenario): row for row in report.rows if row.pairs}


def _is_same(before: RelationRow, now: RelationRow) -> bool:
    """Return whether two rows ask one question: a relation or a scenario that was changed asks another one."""
    return all(before.measured.get(name) == now.measured.get(name) for name in DEFINING)
