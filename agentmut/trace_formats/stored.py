"""Turn imported runs of the store into the report that a reader of files makes."""

from collections.abc import Iterable

from agentmut._base import digest_of
from agentmut.nouns import ForeignTrial, ImportedOutcome, ImportedTrial, RecordedScore
from agentmut.store import Import
from agentmut.trace_formats.outcomes import OUTCOME
from agentmut.trace_formats.reading import TraceReport


def report_of(imports: Iterable[Import]) -> TraceReport:
    """Return the runs with the scenarios and the outcomes that they were imported with."""
    found = [each.trial for each in imports]
    kept = tuple(map(_trial, found))
    digest = digest_of([[one.files, one.outcome, str(one.trial.place)] for one in found])
    return TraceReport(kept, (), tuple(sorted({one.format for one in found})), digest)


def _trial(found: ImportedTrial) -> ForeignTrial:
    scores = {}
    if found.outcome in (ImportedOutcome.PASS, ImportedOutcome.FAIL):
        passed = found.outcome is ImportedOutcome.PASS
        scores = {OUTCOME: RecordedScore(value=passed, reason=found.reason)}
    lacking = found.reason if found.outcome is ImportedOutcome.NO_EVIDENCE else ""
    changed = {"scenario": found.scenario, "scores": scores, "no_evidence": lacking}
    return found.trial.model_copy(update=changed)
