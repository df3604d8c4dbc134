"""Rows of Langfuse and traces of MLflow, as their own SDKs made them (`tests/testdata/traces/record_*.py`)."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.foreign import BrokenRecord, ForeignTrial
from agentmut.nouns.trace import Action, Usage
from agentmut.seams.protocols.trace_format import TraceFile, TraceFormat
from agentmut.testing import check_trace_format
from agentmut.trace_formats import read_traces
from agentmut.trace_formats.langfuse_rows import LangfuseRows
from agentmut.trace_formats.mlflow_traces import MlflowTraces

TRACES = Path(__file__).parents[1] / "testdata" / "traces"
ROWS, MLFLOW = TRACES / "langfuse.jsonl", TRACES / "mlflow.jsonl"
BOTH = pytest.mark.parametrize(("kind", "path"), [(LangfuseRows, ROWS), (MlflowTraces, MLFLOW)])


def read(kind: type[TraceFormat], *paths: Path) -> list[ForeignTrial | BrokenRecord]:
    return list(kind().read([TraceFile(path, path.name) for path in paths]))


def trials(kind: type[TraceFormat], *paths: Path) -> list[ForeignTrial]:
    return [one for one in read(kind, *paths) if isinstance(one, ForeignTrial)]


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@BOTH
def test_the_format_is_sound_and_recognised(kind: type[TraceFormat], path: Path) -> None:
    check_trace_format(kind, path)
    assert read_traces([TraceFile(path, "runs")]).formats == (kind.name,)


@BOTH
def test_a_tool_loop_is_one_trial_with_its_agent_and_its_failures(
    kind: type[TraceFormat], path: Path
) -> None:
    first, second = trials(kind, path)
    assert (first.turns, second.turns) == (("Where is my order W1?",), ("What about order W2?",))
    assert first.config.prompt.startswith("You are a support agent.")
    assert (first.config.model.name, first.config.tool_names) == ("sim-large", ("track_order",))
    assert [step.action for step in first.trace.steps] == [
        Action.REASON, Action.CALL_TOOL, Action.REASON, Action.RESPOND,
    ]  # fmt: skip
    assert [s.usage.total for s in first.trace.steps if s.action is Action.REASON] == [72, 137]
    (call,) = first.trace.tool_calls
    assert (call.tool, call.arguments, call.node) == ("track_order", {"order_id": "W1"}, "desk")
    assert call.output == {"order": "W1", "status": "shipped"}
    assert "there is no order W2" in str(second.trace.tool_calls[0].error)
    assert "W1" in first.trace.text and 0 < first.trace.seconds < 60


def test_feedback_of_mlflow_is_a_score_with_its_rationale() -> None:
    first, second = trials(MlflowTraces, MLFLOW)
    assert (first.scores["found"].value, second.scores["found"].value) == (True, False)
    assert first.scores["found"].reason == "W1 is there"


def test_scores_of_langfuse_belong_to_their_trace_and_words_are_none(tmp_path: Path) -> None:
    trace = json.loads(ROWS.read_text().splitlines()[0])["traceId"]
    rows = [
        {"trace_id": trace, "name": "correct", "value": 1, "data_type": "BOOLEAN", "comment": "as it is"},
        {"trace_id": trace, "name": "tone", "value": 0.5, "data_type": "NUMERIC"},
        {"trace_id": trace, "name": "mood", "string_value": "calm", "data_type": "CATEGORICAL"},
    ]
    first, second = trials(LangfuseRows, ROWS, written(tmp_path, *rows))
    assert {name: one.value for name, one in first.scores.items()} == {"correct": True, "tone": 0.5}
    assert (first.scores["correct"].reason, second.scores) == ("as it is", {})


def test_rows_of_the_export_have_snake_case_and_prices(tmp_path: Path) -> None:
    row = {
        "id": "a", "trace_id": "t", "parent_observation_id": None, "type": "GENERATION", "name": "ask",
        "start_time": "2026-05-01T10:00:00Z", "end_time": "2026-05-01T10:00:02Z", "model": "m", "level": "DEFAULT",
        "input": [{"role": "user", "content": "Hi"}], "output": "Hello!",
        "usage_details": {"input": 3, "output": 2, "total": 5}, "cost_details": {"total": 0.25},
    }  # fmt: skip
    (trial,) = trials(LangfuseRows, written(tmp_path, row))
    assert (trial.turns, trial.trace.text, trial.trace.usd, trial.trace.usage.total) == (
        ("Hi",),
        "Hello!",
        0.25,
        5,
    )
    assert (trial.started, trial.trace.seconds) == (1777629600.0, 2.0)


def test_langfuse_counts_each_kind_of_tokens_apart_and_a_plain_text_stays_a_text(tmp_path: Path) -> None:
    used = {"input": 3, "input_cached_tokens": 7, "cache_creation_input_tokens": 2, "output": 2,
            "output_reasoning_tokens": 4, "total": 18}  # fmt: skip
    row = {
        "id": "a", "trace_id": "t", "parent_observation_id": None, "type": "GENERATION", "name": "ask",
        "start_time": "2026-05-01T10:00:00Z", "model": "m", "input": [{"role": "user", "content": "Hi"}],
        "output": "42", "usage_details": json.dumps(used), "cost_details": json.dumps({"total": 0.25}),
    }  # fmt: skip
    (trial,) = trials(LangfuseRows, written(tmp_path, row))
    assert trial.trace.usage == Usage(
        input_tokens=12, output_tokens=6, cached_tokens=7, cache_written_tokens=2
    )
    assert (trial.trace.text, trial.trace.usd, trial.unfinished) == ("42", 0.25, True)


def test_a_time_of_minus_one_is_no_time(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in MLFLOW.read_text().splitlines()]
    lines[0]["data"]["spans"][0]["start_time_unix_nano"] = -1
    broken = [one for one in read(MlflowTraces, written(tmp_path, *lines)) if isinstance(one, BrokenRecord)]
    assert "start_time_unix_nano is -1: a time before 1970" in str(broken[0])
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    early = rows[0] | {"startTime": "1969-12-31T23:59:59Z", "traceId": "x"}
    assert "is no time" in str(read(LangfuseRows, written(tmp_path, early, *rows))[0])


def test_a_row_without_a_time_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    path = written(tmp_path, rows[0] | {"startTime": "soon", "traceId": "x"}, *rows)
    broken, *others = read(LangfuseRows, path)
    assert str(broken) == "rows.jsonl:1: its start time 'soon' is no time"
    assert len(others) == 2
