"""The documents that `--json` prints, as JSON Schema: one for each verb, made from the models that are printed."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field, JsonValue
from pydantic.json_schema import models_json_schema

from agentmut._base import UsageError, nearest
from agentmut.cli.output import JSON_VERSION
from agentmut.insight import Coverage, SideBySide
from agentmut.nouns import Check, Edit, MutantRow, Result, Suggestions, Target
from agentmut.store import (
    Comparison,
    Diagnosis,
    RelationReport,
    Rescored,
    SavedBaseline,
    SurvivorsReport,
    VerdictReport,
)
from agentmut.usecases import (
    Analysis,
    Foreseen,
    GateReport,
    ImportReport,
    TrendReport,
    TrialRow,
    WatchReport,
    WholeTrial,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Sometimes: Any = Field(default=None, json_schema_extra={"may_lack": True})
"""A key that some documents of the kind do not have."""


class Refusal(BaseModel):
    """The document that any failing verb prints."""

    error: str
    exit_code: int


class DecidedResult(Result):
    """A result; `run --gate` adds the decision, and `--in-diff` what has changed."""

    gate: GateReport | None = Sometimes


class NothingToDo(BaseModel):
    """`run --in-diff` where no mutant touches the change."""

    status: str
    problem: str
    in_diff: JsonValue
    mutants: tuple[JsonValue, ...]


class ListedMutant(BaseModel):
    """A mutant that would be tried."""

    id: str
    operator: str
    operator_class: str = Field(alias="class")
    intent: str
    parts: tuple[str, ...]
    status: str | None
    reason: str
    target: Target
    description: str
    before: str
    after: str
    edits: tuple[Edit, ...]
    diff: tuple[str, ...]


class MutantCounts(BaseModel):
    """How many mutants there are, in all and by class and operator."""

    mutants: int
    unselected: int
    ignored: int
    classes: dict[str, int]
    operators: dict[str, int]
    dropped: dict[str, int]


class ListedMutants(BaseModel):
    """The list that `agentmut mutants` prints."""

    source: str
    mutants: tuple[ListedMutant, ...]
    counts: MutantCounts
    dropped: tuple[dict[str, str], ...]
    empty: tuple[dict[str, JsonValue], ...]
    ignored: tuple[dict[str, str], ...]
    notes: tuple[str, ...]
    in_diff: JsonValue = Sometimes


class ShownMutant(MutantRow):
    """A mutant with runs to read and assertions to add."""

    runs: tuple[SideBySide, ...]
    suggestions: tuple[dict[str, JsonValue], ...] | None = Sometimes
    suggestion_notes: tuple[str, ...] | None = Sometimes


class ListedTrials(BaseModel):
    """The stored trials."""

    trials: tuple[TrialRow, ...]


class ProposedSuggestions(Suggestions):
    """The proposals of `agentmut suggest`."""

    ideas: tuple[dict[str, JsonValue], ...]
    search: dict[str, JsonValue] | None


class AppliedSuggestions(BaseModel):
    """The files that `suggest --apply` has changed."""

    changed: tuple[str, ...]


class Cleaned(BaseModel):
    """The runs and trials that `agentmut clean` has removed, or would remove."""

    runs_removed: tuple[str, ...]
    trials_removed: int
    runs_kept: tuple[str, ...]
    dry_run: bool
    imports_removed: int | None = Sometimes


class Written(BaseModel):
    """The files that a verb has written."""

    written: tuple[str, ...]


class CopiedTable(BaseModel):
    """A table that is the same in both stores."""

    name: str
    rows: int
    digest: str


class StoreCopy(BaseModel):
    """The tables that `agentmut store copy` has copied."""

    kind: str
    tables: tuple[CopiedTable, ...]


class Exported(BaseModel):
    """The export that `agentmut export` has written or sent."""

    format: str
    trials: int
    target: str


class Serving(BaseModel):
    """A server that listens; `environment` leads programs to it."""

    url: str
    environment: dict[str, str]


class RecordedTrial(BaseModel):
    """A trial that can be replayed."""

    trial: str
    scenario: str
    repeat: int
    mutant: str
    operator: str
    requests: int
    ending: str


class RecordedTrials(BaseModel):
    """The recorded trials of a run."""

    run: str
    trials: tuple[RecordedTrial, ...]


class ReplayedTrial(RecordedTrial):
    """A trial that was run again on its recorded answers."""

    outcome: str
    reason: str
    checks: tuple[Check, ...]
    unused: int
    problem: str
    trace: dict[str, JsonValue]


class ThresholdPreview(BaseModel):
    """Chances and trials at assumed pass rates."""

    kind: str
    notes: tuple[str, ...]
    lines: tuple[dict[str, JsonValue], ...]


class ComparisonPreview(BaseModel):
    """Chances of FAIL by drop and size of the baseline."""

    kind: str
    baseline: str
    method: str
    scenarios: dict[str, dict[str, JsonValue]]


class RelationsPreview(BaseModel):
    """Which relations fit which scenarios, and the most trials that they take."""

    kind: str
    most_trials: int
    relations: tuple[dict[str, str], ...]
    needs_argument: dict[str, str]


Models = tuple[type[BaseModel], ...]
DOCUMENTS: Mapping[str, Models] = {
    "init": (Written,),
    "doctor": (Diagnosis,),
    "mutants": (ListedMutants,),
    "plan": (Foreseen,),
    "run": (DecidedResult, NothingToDo, GateReport),
    "resume": (Result,),
    "merge": (Result,),
    "test": (VerdictReport, ThresholdPreview),
    "relations": (RelationReport, SurvivorsReport, RelationsPreview),
    "coverage": (Coverage,),
    "show": (ShownMutant,),
    "report": (Result, VerdictReport, RelationReport, SurvivorsReport, Comparison),
    "trials": (ListedTrials, WholeTrial),
    "suggest": (ProposedSuggestions, AppliedSuggestions),
    "rescore": (Rescored,),
    "replay": (RecordedTrials, ReplayedTrial),
    "export": (Exported,),
    "import": (ImportReport,),
    "analyze": (Analysis,),
    "gate": (GateReport,),
    "baseline save": (SavedBaseline,),
    "baseline compare": (VerdictReport, ComparisonPreview),
    "trend": (TrendReport,),
    "watch": (WatchReport,),
    "serve": (Serving, Written),
    "clean": (Cleaned,),
    "store copy": (StoreCopy,),
    "simulate": (Serving,),
    "proxy": (Serving,),
}
"""The documents of each verb. Any verb may print a `Refusal` in their place."""

FLAGS: Mapping[type[BaseModel], str] = {TrendReport: "drifted", WatchReport: "changed"}
"""Computed answers, yes or no, that are printed beside the fields of a model."""


def schema_of(verb: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of what a verb prints, or of what any verb prints.

    Keys may be added without a new version, so no object is closed. Raises `UsageError` for a verb without `--json`.
    """
    if verb is not None and verb not in DOCUMENTS:
        raise UsageError(f"no document is known for {verb!r}. {nearest(verb, DOCUMENTS)}")
    models = dict.fromkeys(_models(verb))
    refs, schema = models_json_schema([(model, "serialization") for model in models], by_alias=True)
    by_model = {model: refs[model, "serialization"] for model in models}
    definitions = {name: _opened(one) for name, one in schema["$defs"].items()}
    for model, ref in by_model.items():
        _versioned(definitions[ref["$ref"].rpartition("/")[2]], FLAGS.get(model))
    return {
        "$schema": DIALECT,
        "title": f"What `agentmut {verb or 'VERB'} --json` prints",
        "description": f"Version {JSON_VERSION} of agentmut's JSON output.",
        "anyOf": list(by_model.values()),
        "$defs": definitions,
    }


def schema_text(verb: str | None = None) -> str:
    """Return the schema as it is published, with its last line break."""
    return json.dumps(schema_of(verb), indent=1, ensure_ascii=False) + "\n"


def _models(verb: str | None) -> Iterator[type[BaseModel]]:
    for name, models in DOCUMENTS.items():
        if verb in (None, name):
            yield from models
    yield Refusal


def _opened(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with every key required that is always printed, and further keys admitted."""
    if "properties" not in schema:
        return schema
    lacking = {name for name, one in schema["properties"].items() if one.pop("may_lack", False)}
    required = [name for name in schema["properties"] if name not in lacking]
    return {key: value for key, value in schema.items() if key != "additionalProperties"} | {
        "required": required
    }


def _versioned(schema: dict[str, Any], flag: str | None) -> None:
    """Add the version that every printed document has, and the flag of a document that has one."""
    added = {"schema_version": {"type": "integer"}} | ({flag: {"type": "boolean"}} if flag else {})
    schema["properties"] = added | schema["properties"]
    schema["required"] = list(dict.fromkeys([*added, *schema["required"]]))
