"""The report of mutation-testing-elements (Stryker's JSON schema, version 2), for its viewer and dashboard.

The score that the viewer computes, killed among killed, survived and not covered, is the mutation score of
agentmut: what is not counted there is `Pending` (undecided) or `Ignored`, and never detected.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from agentmut.nouns import SUITE, Intent, MutantRow, Result, Status
from agentmut.report.bounded import bounded, one_line
from agentmut.report.files.regions import Region, change_of, region, without_blanks
from agentmut.report.paint import clean
from agentmut.report.report_wording import MEANING

LONGEST_SOURCE = 1_000_000
"""Characters of a text up to which it is shown; a longer one is shown by what the mutants change in it."""
ELSEWHERE = "The text is not part of the result. These are the parts that mutants change:"
NOWHERE = "agent"
"""The file of mutants that change nothing written in a file."""
_STATUSES = {
    Status.KILLED: "Killed",
    Status.SURVIVED: "Survived",
    Status.NO_COVERAGE: "NoCoverage",
    Status.UNDECIDED: "Pending",
    Status.UNTESTABLE: "Pending",
    Status.NOT_DRAWN: "Ignored",
    Status.EQUIVALENT: "Ignored",
    Status.NOT_APPLIED: "Ignored",
    Status.IGNORED: "Ignored",
    Status.ERROR: "RuntimeError",
}
_LANGUAGES = {".md": "markdown", ".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


class PlacedText(NamedTuple):
    """A text as it is shown, and where each mutant stands in it, by the mutant's id."""

    source: str
    regions: Mapping[str, Region]


def stryker_report(result: Result) -> str:
    """Return the report as a JSON document."""
    files: dict[str, list[MutantRow]] = {}
    for row in result.mutants:
        files.setdefault(one_line(row.target.path or NOWHERE), []).append(row)
    tests = {name: f"s{number}" for number, name in enumerate(_scenarios(result))}
    document = {
        "schemaVersion": "2.0",
        "thresholds": {"high": 80, "low": 60},
        "files": {path: _file(path, rows, result, tests) for path, rows in files.items()},
        "testFiles": {
            "scenarios": {"tests": [{"id": id, "name": one_line(name)} for name, id in tests.items()]}
        },
        "framework": {"name": "agentmut", "version": one_line(result.agentmut_version)},
        "config": {
            "run": one_line(result.run_id),
            "seed": result.seed,
            "score": result.score.model_dump(mode="json"),
            "robustness": result.robustness.model_dump(mode="json"),
        },
    }
    return json.dumps(document, indent=1) + "\n"


def status_of(row: MutantRow) -> tuple[str, str]:
    """Return the status in the words of the schema, and why. What is in no score counts for nothing here either."""
    reason = bounded(row.reason) or MEANING[row.status]
    if row.parts:
        return "Ignored", f"Two changes at once, whose parts are counted: {row.status}."
    if row.intent is Intent.PRESERVE:
        return "Ignored", f"A harmless change, which counts in robustness only: {row.status}."
    if row.intent is Intent.CONTROL:
        return "Ignored", f"A control of the campaign itself: {row.status}."
    return _STATUSES[row.status], reason


def _scenarios(result: Result) -> list[str]:
    """Return every scenario that is named, and the suite as a whole where it killed one."""
    named = [row.scenario for row in result.baseline]
    for row in result.mutants:
        named += [*(item.scenario for item in row.evidence), *row.killed_by]
    return [name for name in dict.fromkeys(named) if name != SUITE] + ([SUITE] if SUITE in named else [])


def _file(path: str, rows: list[MutantRow], result: Result, tests: Mapping[str, str]) -> dict[str, Any]:
    kept = _kept_text(rows, result)
    placed = kept or _made_up(rows)
    mutants = [_mutant(row, placed.regions[row.id], tests) for row in rows]
    language = _LANGUAGES.get(PurePosixPath(path).suffix, "plaintext") if kept else "plaintext"
    return {"language": language, "source": placed.source, "mutants": mutants}


def _mutant(row: MutantRow, at: Region, tests: Mapping[str, str]) -> dict[str, Any]:
    status, reason = status_of(row)
    return {
        "id": one_line(row.id),
        "mutatorName": one_line(row.operator),
        "description": bounded(row.description),
        **_replacement(row),
        "location": {
            "start": {"line": at.start_line, "column": at.start_column},
            "end": {"line": at.end_line, "column": at.end_column},
        },
        "status": status,
        "statusReason": reason,
        "coveredBy": [tests[item.scenario] for item in row.evidence],
        "killedBy": [tests[name] for name in row.killed_by],
        "testsCompleted": row.trials,
    }


def _replacement(row: MutantRow) -> dict[str, str]:
    """Return what stands at the location now; left out where a mutant changes several places, as it has
    one location.
    """
    if len(row.changes) > 1:
        return {}
    after = row.changes[0].after.strip() if row.changes else row.after
    return {"replacement": bounded(after)}


def _kept_text(rows: Iterable[MutantRow], result: Result) -> PlacedText | None:
    """Return the text that the result keeps of a file; None where it keeps none, or not all mutants are in it."""
    rows = list(rows)
    source = next((text for text in result.sources if text.path == rows[0].target.path), None)
    if source is None or len(source.text) > LONGEST_SOURCE:
        return None
    text = clean(source.text)  # a character for a character: offsets stay right
    regions = {}
    for row in rows:
        found = change_of(row, result)
        if found is None or found[0] is not source:
            regions[row.id] = Region(1, 1, 1, 1)
        else:
            regions[row.id] = region(text, *without_blanks(source.text, found[1]))
    return PlacedText(text, regions)


def _made_up(rows: Iterable[MutantRow]) -> PlacedText:
    """Return a text made of what the mutants change, each distinct part once, with blank lines between."""
    lines, starts, regions = [ELSEWHERE, ""], {}, {}
    for row in rows:
        before = bounded(row.before).strip() or one_line(row.description) or one_line(row.operator)
        if before not in starts:
            starts[before] = len(lines) + 1
            lines += [*before.split("\n"), ""]
        whole = region(before, 0, len(before))
        above = starts[before] - 1
        regions[row.id] = whole._replace(start_line=1 + above, end_line=whole.end_line + above)
    return PlacedText("\n".join(lines), regions)
