"""SARIF 2.1.0: each change that the suite did not notice, at its place in the prompt.

Code scanning shows them at file and line. Columns are UTF-16 code units. Paths are relative to `prefix`, the
project's folder as it is seen from where the command runs, usually the root of the repository.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from agentmut.nouns import MutantRow, Result, Score, Status
from agentmut.report.bounded import bounded, one_line, place
from agentmut.report.files.regions import in_file
from agentmut.report.ranking import rank
from agentmut.report.report_wording import MEANING

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "agentmutMutant/v1"

Whys = Callable[[str], str]
"""Why an operator's change happens in practice, by the operator's name; empty where it is not known."""


def sarif_report(result: Result, prefix: str = "", why: Whys = lambda _: "") -> str:
    """Return the report as a JSON document with one run. Survivors are warnings, in the order of the other reports."""
    survivors = rank(result.mutants)
    rules: dict[
        str, str
    ] = {}  # operators by the id shown: long names can be cut to the same, and ids are unique
    for row in survivors:
        rules.setdefault(one_line(row.operator), row.operator)
    places = {id: number for number, id in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(result, rules.values(), why)},
        "automationDetails": {"id": f"agentmut/{one_line(result.run_id)}"},
        "invocations": [_invocation(result)],
        "columnKind": "utf16CodeUnits",
        "results": [_result(row, places[one_line(row.operator)], result, prefix) for row in survivors],
        "properties": {
            "score": _score(result.score),
            "robustness": _score(result.robustness),
            "classes": {one_line(name): _score(score) for name, score in result.classes.items()},
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _driver(result: Result, rules: Iterable[str], why: Whys) -> dict[str, Any]:
    version = one_line(result.agentmut_version)
    return {"name": "agentmut", "version": version, "rules": [_rule(name, why(name)) for name in rules]}


def _rule(operator: str, why: str) -> dict[str, Any]:
    name = one_line(operator)
    help_text = (
        f"The operator {name} made a change that should lower a pass rate, and no scenario noticed. "
        f"{f'How this happens in practice: {bounded(why)} ' if why else ''}"
        "Add an assertion, or a scenario in which the change shows; `agentmut show ID` explains one change and "
        "`agentmut suggest` proposes what to add."
    )
    return {
        "id": name,
        "name": name,
        "shortDescription": {"text": f"A change by {name} that no scenario notices"},
        "fullDescription": {"text": bounded(why) or f"A change by {name} that no scenario notices"},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": "warning"},
    }


def _result(row: MutantRow, rule: int, result: Result, prefix: str) -> dict[str, Any]:
    runs = "no coverage" if row.status is Status.NO_COVERAGE else f"{row.trials} runs"
    text = f"Not noticed ({runs}): {one_line(row.description, 1000)}. {MEANING[row.status]}"
    properties = {"mutant": one_line(row.id), "status": row.status.value, "trials": row.trials}
    if row.gap:
        properties["gap"] = one_line(row.gap)
    return {
        "ruleId": one_line(row.operator),
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": text},
        "locations": [_location(row, result, prefix)],
        "partialFingerprints": {FINGERPRINT: one_line(row.id)},
        "properties": properties,
    }


def _location(row: MutantRow, result: Result, prefix: str) -> dict[str, Any]:
    path = row.target.path
    if path is None or ":" in path:  # `module:object` is no file: the project file stands for it
        logical = [{"fullyQualifiedName": one_line(path or "agent")}]
        uri = _uri(result.project or "agentmut.yaml", prefix)
        return {"physicalLocation": {"artifactLocation": {"uri": uri}}, "logicalLocations": logical}
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(path, prefix)}}
    if row.target.line:
        physical["region"] = _region(row, result, row.target.line)
    return {"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": place(row)}]}


def _region(row: MutantRow, result: Result, line: int) -> dict[str, Any]:
    snippet = {"snippet": {"text": bounded(row.before)}} if row.before else {}
    found = in_file(row, result)
    if found is None:  # a column that cannot be counted in UTF-16 is left out
        return {"startLine": line, **snippet}
    return {
        "startLine": found.start_line,
        "startColumn": found.start_column,
        "endLine": found.end_line,
        "endColumn": found.end_column,
        **snippet,
    }


def _uri(path: str, prefix: str) -> str:
    joined = f"{prefix}/{path}" if prefix else path
    return quote(one_line(joined.replace("\\", "/"), 1000))


def _invocation(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = {"executionSuccessful": result.status == "finished"}
    if result.status != "finished":
        message = (
            bounded(result.problem) or f"The run ended as {one_line(result.status)}: its score is partial."
        )
        found["toolExecutionNotifications"] = [{"level": "error", "message": {"text": message}}]
    return found


def _score(score: Score) -> dict[str, Any]:
    return score.model_dump(mode="json")
