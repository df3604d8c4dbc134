"""tau2-bench, ATIF and inspect_ai: a log that inspect_ai wrote, and documents after the other two's own models.

Neither tau2-bench nor Harbor can be installed beside agentmut, so their documents are written here, field by field as
`tau2.data_model` and Harbor's RFC 0001 have them.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.foreign import BrokenRecord, ForeignTrial
from agentmut.nouns.trace import Action
from agentmut.seams.protocols.trace_format import TraceFile, TraceFormat
from agentmut.testing import check_trace_format
from agentmut.trace_formats import read_traces
from agentmut.trace_formats.atif import Atif
from agentmut.trace_formats.inspect_log import InspectLog, refuse_bomb
from agentmut.trace_formats.tau2 import Tau2
from agentmut.usecases import check_suite

LOG = Path(__file__).parents[1] / "testdata" / "traces" / "inspect.eval"


def trials(reader: TraceFormat, path: Path) -> list[ForeignTrial]:
    found = list(reader.read([TraceFile(path, path.name)]))
    assert not [str(one) for one in found if isinstance(one, BrokenRecord)]
    return [one for one in found if isinstance(one, ForeignTrial)]


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}"


def simulation(task: str, reward: float | None, **more: Any) -> dict[str, Any]:
    own = {"id": "a1", "name": "find_line", "arguments": {"user": "u7"}, "requestor": "assistant"}
    users = {"id": "u1", "name": "toggle_data", "arguments": {}, "requestor": "user"}
    messages = [
        {"role": "assistant", "content": "Hi! How can I help?", "turn_idx": 0, "timestamp": at(0)},
        {"role": "user", "content": "No data.", "timestamp": at(2)},
        {"role": "assistant", "content": None, "tool_calls": [own], "timestamp": at(3), "cost": 0.01,
         "usage": {"prompt_tokens": 50, "completion_tokens": 5}, "generation_time_seconds": 0.5},
        {"role": "tool", "id": "a1", "content": "no such user", "requestor": "assistant", "error": True,
         "timestamp": at(4)},
        {"role": "assistant", "content": "Switch data off and on.", "timestamp": at(6)},
        {"role": "user", "content": None, "tool_calls": [users], "timestamp": at(7)},
        {"role": "tool", "id": "u1", "content": "on", "requestor": "user", "error": False, "timestamp": at(8)},
        {"role": "user", "content": "It works.", "timestamp": at(9)},
        {"role": "assistant", "content": "Great.", "timestamp": at(10)},
        {"role": "user", "content": "###STOP###", "timestamp": at(11)},
    ]  # fmt: skip
    judged = None if reward is None else {"reward": reward}
    return {
        "id": "s", "task_id": task, "trial": 0, "seed": 300, "start_time": at(0), "end_time": at(12), "duration": 12.0,
        "termination_reason": "user_stop", "reward_info": judged, "messages": messages,
    } | more  # fmt: skip


def tau2(folder: Path, *runs: dict[str, Any]) -> Path:
    info = {
        "num_trials": 2,
        "agent_info": {"implementation": "llm_agent", "llm": "gpt-x", "llm_args": {"temperature": 0.0}},
        "environment_info": {"domain_name": "telecom", "policy": "Be kind."}, "seed": 300,
    }  # fmt: skip
    path = folder / "results.json"
    path.write_text(
        json.dumps({"timestamp": at(0), "info": info, "tasks": [], "simulations": list(runs)}, indent=2)
    )
    return path


def test_a_simulation_has_the_agent_s_calls_and_not_the_user_s(tmp_path: Path) -> None:
    (trial,) = trials(Tau2(), tau2(tmp_path, simulation("7", 1.0)))
    assert trial.scenario == "task_7"
    assert trial.turns == ("No data.", "It works.")
    assert trial.trace.outputs == ("Switch data off and on.", "Great.")
    (call,) = trial.trace.tool_calls
    assert (call.tool, call.arguments, call.error, call.started) == (
        "find_line",
        {"user": "u7"},
        "no such user",
        4.0,
    )
    asked = [step for step in trial.trace.steps if step.action is Action.REASON][1]
    assert (asked.usage.total, asked.usd, asked.started, asked.seconds, asked.model) == (
        55,
        0.01,
        3.0,
        0.5,
        "gpt-x",
    )
    assert (trial.trace.seconds, trial.config.prompt, trial.config.model.temperature) == (
        12.0,
        "Be kind.",
        0.0,
    )
    assert trial.scores["reward"].value is True


def test_trouble_of_the_service_is_no_evidence_and_a_run_without_a_reward_neither(tmp_path: Path) -> None:
    down = simulation("1", 0.0, termination_reason="infrastructure_error")
    path = tau2(tmp_path, simulation("1", 1 - 1e-7), simulation("1", 0.9), down, simulation("1", None))
    assert [bool(one.no_evidence) for one in trials(Tau2(), path)] == [False, False, True, False]
    (tmp_path / "agentmut.yaml").write_text("version: 1\nsuite: {traces: results.json}\n")
    report = check_suite(tmp_path)
    assert [(row.passes, row.trials) for row in report.scenarios] == [(1, 2)]
    assert any("2 recorded runs are no evidence" in note for note in report.notes)


def test_a_broken_simulation_leaves_the_others(tmp_path: Path) -> None:
    path = tau2(tmp_path, simulation("1", 1.0), {"task_id": "2"}, simulation("3", 1.0))
    found = list(Tau2().read([TraceFile(path, path.name)]))
    assert [getattr(one, "scenario", None) for one in found] == ["task_1", None, "task_3"]
    assert "it has no 'messages'" in str(found[1])


def test_a_duration_of_minus_one_is_told_with_its_run(tmp_path: Path) -> None:
    path = tau2(tmp_path, simulation("1", 1.0, duration=-1), simulation("3", 1.0))
    broken, other = Tau2().read([TraceFile(path, path.name)])
    assert "duration is -1" in str(broken)
    assert getattr(other, "scenario", "") == "task_3"


def trajectory(**more: Any) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "timestamp": at(0) + "Z", "source": "system", "message": "Be kind."},
        {"step_id": 2, "timestamp": at(1) + "Z", "source": "user", "message": [{"type": "text", "text": "Fix it."}]},
        {"step_id": 3, "timestamp": at(1) + "Z", "source": "agent", "message": "Earlier", "is_copied_context": True},
        {"step_id": 4, "timestamp": at(3) + "Z", "source": "agent", "message": "I look.", "reasoning_content": "hm",
         "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"cmd": "ls"}},
                        {"tool_call_id": "c2", "function_name": "bash", "arguments": {"cmd": "pwd"}}],
         "observation": {"results": [{"source_call_id": "c2", "content": "/"},
                                     {"source_call_id": "c1", "content": "a"}]},
         "metrics": {"prompt_tokens": 40, "completion_tokens": 4, "cached_tokens": 8, "cost_usd": 0.02}},
        {"step_id": 5, "timestamp": at(5) + "Z", "source": "agent", "message": "Done.", "model_name": "other"},
    ]  # fmt: skip
    tools = [
        {
            "type": "function",
            "function": {"name": "bash", "description": "", "parameters": {"type": "object"}},
        }
    ]
    agent = {"name": "terminus", "version": "2.0", "model_name": "big", "tool_definitions": tools}
    return {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": agent, "steps": steps} | more


def harbor(folder: Path, result: dict[str, Any] | None, run: dict[str, Any]) -> Path:
    (folder / "trial" / "agent").mkdir(parents=True)
    path = folder / "trial" / "agent" / "trajectory.json"
    path.write_text(json.dumps(run, indent=2))
    if result is not None:
        (folder / "trial" / "result.json").write_text(json.dumps(result))
    return path


def test_a_trajectory_has_its_calls_by_their_ids_and_no_copied_context(tmp_path: Path) -> None:
    result = {"task_name": "fix-it", "verifier_result": {"rewards": {"reward": 1.0, "style": 0.25}}}
    (trial,) = trials(Atif(), harbor(tmp_path, result, trajectory()))
    assert (trial.scenario, trial.turns, trial.config.prompt) == ("fix-it", ("Fix it.",), "Be kind.")
    assert [(one.arguments, one.output) for one in trial.trace.tool_calls] == [
        ({"cmd": "ls"}, "a"), ({"cmd": "pwd"}, "/"),
    ]  # fmt: skip
    asked = [step for step in trial.trace.steps if step.action is Action.REASON]
    assert [(step.model, step.usage.total, step.usd, step.started) for step in asked] == [
        ("big", 44, 0.02, 3.0), ("other", 0, None, 5.0),
    ]  # fmt: skip
    assert (trial.trace.outputs, trial.trace.seconds, trial.config.tool_names) == (("Done.",), 5.0, ("bash",))
    assert {name: score.value for name, score in trial.scores.items()} == {"reward": True, "style": 0.25}


def test_the_reward_may_stand_in_the_verifier_s_own_file_or_nowhere(tmp_path: Path) -> None:
    path = harbor(tmp_path, None, trajectory())
    assert (trials(Atif(), path)[0].scores, trials(Atif(), path)[0].scenario) == ({}, "Fix it.")
    (tmp_path / "trial" / "verifier").mkdir()
    (tmp_path / "trial" / "verifier" / "reward.txt").write_text("0.0\n")
    assert trials(Atif(), path)[0].scores["reward"].value is False


def test_steps_of_a_sub_agent_stand_behind_the_call_that_started_it_in_its_node(tmp_path: Path) -> None:
    run = trajectory()
    run["steps"][3]["observation"]["results"][1]["subagent_trajectory_ref"] = [{"trajectory_id": "sub"}]
    helper = {"name": "searcher", "version": "1", "model_name": "small"}
    steps = [
        {"step_id": 1, "source": "user", "message": "Find a.", "timestamp": at(3) + "Z"},
        {"step_id": 2, "source": "agent", "message": "", "timestamp": at(4) + "Z", "metrics": {"prompt_tokens": 7},
         "tool_calls": [{"tool_call_id": "d1", "function_name": "grep", "arguments": {}}],
         "observation": {"results": [{"source_call_id": "d1", "content": "a:1"}]}},
        {"step_id": 3, "source": "agent", "message": "It is in a.", "timestamp": at(4) + "Z"},
    ]  # fmt: skip
    sub = {"schema_version": "ATIF-v1.7", "trajectory_id": "sub", "agent": helper, "steps": steps}
    (trial,) = trials(Atif(), harbor(tmp_path, None, run | {"subagent_trajectories": [sub]}))
    assert [(step.action.value, step.tool, step.node) for step in trial.trace.steps] == [
        ("reason", None, None), ("call_tool", "bash", None), ("reason", None, "searcher"),
        ("call_tool", "grep", "searcher"), ("reason", None, "searcher"), ("call_tool", "bash", None),
        ("reason", None, None), ("respond", None, None),
    ]  # fmt: skip
    assert (trial.trace.outputs, trial.turns) == (("Done.",), ("Fix it.",))
    assert trial.trace.steps[2].model == "small"
    assert trial.trace.usage.input_tokens == 47


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_all_versions_are_recognised_and_a_later_format_is_refused(version: str, tmp_path: Path) -> None:
    path = harbor(tmp_path, None, trajectory(schema_version=version))
    assert Atif().recognises(path.read_bytes())
    path.write_text(json.dumps(trajectory(schema_version="ATIF-v2.0")))
    (broken,) = Atif().read([TraceFile(path, path.name)])
    assert "ATIF-v2.0 is none of ATIF-v1.0 to 1.8" in str(broken)


def test_the_formats_are_sound(tmp_path: Path) -> None:
    check_trace_format(Tau2, tau2(tmp_path, simulation("1", 1.0)))
    check_trace_format(Atif, harbor(tmp_path, None, trajectory()))


@pytest.mark.framework
def test_a_log_of_inspect_ai_is_read_by_its_own_reader() -> None:
    pytest.importorskip("inspect_ai")
    check_trace_format(InspectLog, LOG)
    found = trials(InspectLog(), LOG)
    assert [(one.scenario, one.fields["epoch"]) for one in found] == [
        ("known", 1), ("known", 2), ("unknown", 1), ("unknown", 2),
    ]  # fmt: skip
    assert [one.scores["includes"].value for one in found] == [True, True, False, False]
    first, last = found[0], found[-1]
    assert first.config.tools[0].parameters["required"] == ["order_id"]
    assert first.config.prompt.startswith("You are a support agent.")
    (call,) = first.trace.tool_calls
    assert (call.tool, call.arguments) == ("track_order", {"order_id": "W1"})
    assert json.loads(str(call.output)) == {"order": "W1", "status": "shipped"}
    assert last.trace.tool_calls[0].error == "there is no order W2"
    assert [step.usage.total for step in first.trace.steps if step.action is Action.REASON] == [86, 151]
    assert 0 < call.started < first.trace.seconds


def test_an_archive_that_would_fill_the_memory_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", "{}")
        with archive.open("samples/a_epoch_1.json", "w") as sample:
            for _ in range(70):
                sample.write(bytes(1_000_000))
    with pytest.raises(ValueError, match=r"'samples/a_epoch_1\.json' in it would be 66 MiB"):
        refuse_bomb(path)
    refuse_bomb(LOG)


@pytest.mark.framework
def test_formats_are_told_apart_by_what_files_hold(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    files = [LOG, tau2(tmp_path, simulation("1", 1.0)), harbor(tmp_path, None, trajectory())]
    report = read_traces([TraceFile(path, path.name) for path in files])
    assert (report.formats, len(report.trials), report.broken) == (("atif", "inspect", "tau2"), 6, ())
