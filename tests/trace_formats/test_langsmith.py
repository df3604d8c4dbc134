"""Runs of LangSmith, as its SDK sent them (`tests/testdata/traces/record_langsmith.py`)."""

import json
from pathlib import Path
from typing import Any

from agentmut.nouns.foreign import BrokenRecord, ForeignTrial
from agentmut.nouns.trace import Action
from agentmut.seams.protocols.trace_format import TraceFile
from agentmut.testing import check_trace_format
from agentmut.trace_formats import read_traces
from agentmut.trace_formats.langsmith_runs import LangSmithRuns

RUNS = Path(__file__).parents[1] / "testdata" / "traces" / "langsmith.jsonl"


def read(path: Path) -> list[ForeignTrial | BrokenRecord]:
    return list(LangSmithRuns().read([TraceFile(path, path.name)]))


def changed(folder: Path, **more: Any) -> Path:
    """The runs with fields added to the roots."""
    runs = [json.loads(line) for line in RUNS.read_text().splitlines()]
    lines = [json.dumps(run if "parent_run_id" in run else run | more) for run in runs]
    path = folder / "runs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_format_is_sound_and_recognised() -> None:
    check_trace_format(LangSmithRuns, RUNS)
    assert read_traces([TraceFile(RUNS, "runs")]).formats == ("langsmith",)


def test_a_graph_s_runs_are_one_trial() -> None:
    first, second = [one for one in read(RUNS) if isinstance(one, ForeignTrial)]
    assert (first.turns, second.turns) == (("Where is my order W1?",), ("What about order W2?",))
    assert first.config.prompt.startswith("You are a support agent.")
    assert (first.config.model.name, first.config.tool_names) == ("sim-large", ("track_order",))
    assert [step.action for step in first.trace.steps] == [
        Action.REASON, Action.CALL_TOOL, Action.REASON, Action.RESPOND,
    ]  # fmt: skip
    asked = [step.usage for step in first.trace.steps if step.action is Action.REASON]
    assert [(usage.input_tokens, usage.output_tokens) for usage in asked] == [(64, 8), (80, 57)]
    (call,) = first.trace.tool_calls
    assert (call.tool, call.arguments, call.node) == ("track_order", {"order_id": "W1"}, "tools")
    assert json.loads(str(call.output)) == {"order": "W1", "status": "shipped"}
    assert first.trace.edges == (("model", "tools"), ("tools", "model"))
    assert second.trace.tool_calls[0].output == "error: there is no order W2"
    assert "W1" in first.trace.text and 0 < first.trace.seconds < 60
    assert first.fields["session_name"] == "desk"


def test_feedback_is_a_score_and_the_root_s_error_is_the_run_s(tmp_path: Path) -> None:
    feedback = {"correct": {"n": 1, "avg": 1.0}, "tone": {"n": 2, "avg": 0.5}}
    path = changed(tmp_path, feedback_stats=feedback, error="ValueError('boom')\nTraceback ...")
    trial = read(path)[0]
    assert isinstance(trial, ForeignTrial)
    assert {name: score.value for name, score in trial.scores.items()} == {"correct": True, "tone": 0.5}
    assert trial.trace.error == "ValueError('boom')"


def test_messages_of_openai_are_read(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
    ]
    run = {
        "id": "r", "trace_id": "r", "run_type": "llm", "name": "ChatOpenAI", "start_time": "2026-01-01T00:00:00",
        "end_time": "2026-01-01T00:00:02", "inputs": {"messages": said}, "prompt_tokens": 5, "completion_tokens": 2,
        "outputs": {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]},
        "extra": {"metadata": {"ls_model_name": "m", "ls_provider": "openai"}}, "total_cost": 0.25,
    }  # fmt: skip
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run, {"trace_id": "r", "run_type": "llm"}]))
    broken, trial = read(path)
    assert "it has no 'start_time'" in str(broken)
    assert isinstance(trial, ForeignTrial)
    assert (trial.turns, trial.config.prompt, trial.config.model.provider) == (("Hi",), "Be kind.", "openai")
    step, call_step = trial.trace.steps[:2]
    assert (step.usage.total, step.usd, step.model, step.seconds) == (7, 0.25, "m", 2.0)
    assert (call_step.tool, call_step.arguments) == ("look", {"n": 1})


def test_a_trace_of_which_no_run_can_be_read_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    lines = RUNS.read_text().splitlines()
    alone = json.loads(lines[0]) | {"trace_id": "x", "start_time": "soon"}
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([json.dumps(alone), *lines]) + "\n")
    broken, *others = read(path)
    assert str(broken) == "runs.jsonl:1: its start_time 'soon' is no time"
    assert len(others) == 2
