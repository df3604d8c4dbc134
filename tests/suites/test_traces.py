"""The suite of recorded runs: what names its scenarios, what judges its runs, and what it refuses."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.nouns.trace import Outcome
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.suites.traces.suite import Traces
from agentmut.testing import check_importer
from agentmut.usecases import analyze, check_suite, import_traces

TRACES = Path(__file__).parents[1] / "testdata" / "traces"
PROJECT = "version: 1\nagent: {config: {prompt: Be kind.}}\n"


def run(task: int, reward: Any, asked: str = "Hi", answer: str = "Hello!", **more: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
    return {
        "task_id": task,
        "reward": reward,
        "info": {"kind": f"k{task % 2}"},
        "traj": said,
        "trial": 0,
    } | more


def project(folder: Path, suite: Any, *runs: dict[str, Any]) -> Path:
    (folder / "runs.json").write_text(json.dumps(runs))
    (folder / "agentmut.yaml").write_text(PROJECT + f"suite: {json.dumps({'traces': suite})}\n")
    return folder


def refusal(folder: Path, suite: Any, *runs: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        check_suite(project(folder, suite, *runs))
    return str(error.value)


def rows(folder: Path, suite: Any, *runs: dict[str, Any]) -> dict[str, tuple[int, int]]:
    report = check_suite(project(folder, suite, *runs))
    return {row.scenario: (row.passes, row.trials) for row in report.scenarios}


def test_the_importer_is_sound(tmp_path: Path) -> None:
    project(tmp_path, "runs.json", run(0, 1.0), run(1, 0.0))
    spec = SuiteSpec(kind="traces", argument="*.json", root=str(tmp_path))
    check_importer(Traces, spec, refused=[spec.model_copy(update={"argument": "none.json"})])


def test_scenarios_may_be_named_by_a_field_in_a_field(tmp_path: Path) -> None:
    runs = [run(n, n / 3) for n in range(4)]  # 0, 1/3, 2/3, 1
    assert rows(tmp_path, {"files": "runs.json", "scenario_by": "info.kind"}, *runs) == {
        "k0": (0, 2), "k1": (1, 2),
    }  # fmt: skip


def test_scenarios_with_different_numbers_of_runs_have_all_of_theirs_and_no_more(tmp_path: Path) -> None:
    runs = [run(0, 1.0), run(1, 1.0), run(1, 0.0), run(1, 1.0)]
    report = check_suite(project(tmp_path, "runs.json", *runs))
    assert {row.scenario: (row.passes, row.trials) for row in report.scenarios} == {
        "task_0": (1, 1), "task_1": (2, 3),
    }  # fmt: skip
    assert all(set(row.outcomes) <= {Outcome.PASS, Outcome.FAIL} for row in report.scenarios)


def test_evaluators_judge_in_the_place_of_the_recorded_score(tmp_path: Path) -> None:
    runs = [run(0, 0.0), run(0, 1.0, answer="Go away")]
    judges = [{"contains": "Hello"}]
    own = {"files": "runs.json", "outcome": "evaluators", "evaluators": judges}
    assert rows(tmp_path, own, *runs) == {"task_0": (1, 2)}


def test_evaluators_judge_besides_the_recorded_score(tmp_path: Path) -> None:
    runs = [run(0, 0.0), run(0, 1.0, answer="Go away"), run(0, 1.0)]
    both = {"files": "runs.json", "evaluators": [{"contains": "Hello"}]}
    assert rows(tmp_path, both, *runs) == {"task_0": (1, 3)}


def test_changed_evaluators_judge_the_same_runs_anew(tmp_path: Path) -> None:
    runs = [run(0, 1.0), run(0, 1.0, answer="Go away")]
    first = {"files": "runs.json", "outcome": "evaluators", "evaluators": [{"contains": "Hello"}]}
    assert rows(tmp_path, first, *runs) == {"task_0": (1, 2)}
    assert rows(tmp_path, first | {"evaluators": [{"regex": "."}]}, *runs) == {"task_0": (2, 2)}


def test_a_judge_sees_what_the_user_said_in_that_run(tmp_path: Path) -> None:
    runs = [run(0, 1.0, asked="one"), run(0, 1.0, asked="two")]
    asked = {
        "files": "runs.json",
        "outcome": "evaluators",
        "evaluators": [{"expression": "turns[0] == 'two'"}],
    }
    assert rows(tmp_path, asked, *runs) == {"task_0": (1, 2)}


def test_a_run_without_an_answer_fails(tmp_path: Path) -> None:
    silent = run(0, 1.0) | {"traj": [{"role": "user", "content": "Hi"}]}
    called = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}],
    }
    stuck = run(0, 1.0) | {"traj": [{"role": "user", "content": "Hi"}, called]}
    judges = {"files": "runs.json", "outcome": "evaluators", "evaluators": [{"regex": "."}]}
    report = check_suite(project(tmp_path, judges, silent, stuck, run(0, 1.0)))
    assert report.scenarios[0].outcomes == {"pass": 1, "fail": 2}


def test_broken_records_are_told_and_the_others_count(tmp_path: Path) -> None:
    report = check_suite(project(tmp_path, "runs.json", run(0, 1.0), {"task_id": 1, "reward": 1, "traj": 3}))
    assert any("1 record could not be read: runs.json:1: " in note for note in report.notes)
    assert [row.scenario for row in report.scenarios] == ["task_0"]


def test_a_folder_may_hold_files_that_are_no_traces(tmp_path: Path) -> None:
    """Each of them is told with its name and its reason, and the traces are read."""
    (tmp_path / "notes.json").write_text('{"a": 1}')
    (tmp_path / "packed.json").write_bytes(gzip.compress(json.dumps([run(1, 1.0)]).encode()))
    (tmp_path / "tonight.json").write_text("")
    report = check_suite(project(tmp_path, "*.json", run(0, 1.0)))
    assert [row.scenario for row in report.scenarios] == ["task_0"]
    (note,) = [note for note in report.notes if "could not be read" in note]
    assert note.startswith("3 records could not be read: notes.json: no format recognises it")
    assert "packed.json: it is compressed. Unpack it first" in note
    assert "tonight.json: it is empty" in note
    broken = import_traces(["*.json"], tmp_path).broken
    assert [one.place.file for one in broken] == ["notes.json", "packed.json", "tonight.json"]


def test_a_number_that_no_store_keeps_breaks_its_record_alone(tmp_path: Path) -> None:
    """JSON of Python has Infinity, and a time of 400 digits is one: a store with such a run could not be read again."""
    spans = [json.loads(line) for line in (TRACES / "pydantic_ai.jsonl").read_text().splitlines()]
    for span in spans:
        span["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["endTimeUnixNano"] = "9" * 400
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)) + "\n")
    lines = (TRACES / "mlflow.jsonl").read_text().splitlines()
    times = json.loads(lines[0])
    for span in times["data"]["spans"]:
        span["end_time_unix_nano"] = "9" * 400
    (tmp_path / "mlflow.jsonl").write_text(json.dumps(times) + "\n" + lines[1] + "\n")
    (tmp_path / "digits.jsonl").write_text(json.dumps(run(0, 1.0)) + '\n{"task_id": ' + "9" * 400 + "}\n")
    report = import_traces(["*.jsonl"], tmp_path)
    assert (report.formats["mlflow"], report.formats["tau_bench"]) == (1, 1)
    said = {(one.place.file, one.place.line): one.reason for one in report.broken}
    assert said["mlflow.jsonl", 1] == "a time of the run is no number that can be kept"
    assert "is too large for a number" in said["digits.jsonl", 2]
    assert "after the year 9999" in said["spans.jsonl", 1]
    assert analyze(tmp_path).evidence.imported == 2


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("nothing.json", "suite.traces: no file fits 'nothing.json'"),
        ({"files": "runs.json", "format": "tau"}, "suite.traces: unknown trace format 'tau'. "),
        ({"files": "agentmut.yaml"}, "agentmut.yaml: no format recognises it. Name its format"),
        ({"files": "runs.json", "outcome": "score"}, "suite.traces.outcome: no record has the score 'score'"),
        ({"files": "runs.json", "outcome": "evaluators"}, "suite.traces.evaluators: the records have no score"),
        ({"files": "runs.json", "evaluators": [{"contain": "x"}]}, "suite.traces.evaluators: unknown evaluator"),
        ({"files": "runs.json", "scenario_by": "info.sort"}, "has no field 'info.sort'. Known: kind"),
        ({"files": "runs.json", "by": "x"}, "suite.traces: unknown key 'by'"),
        ({"files": []}, "suite.traces: give either `files`, or `imported`"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(tmp_path: Path, suite: Any, said: str) -> None:
    assert said in refusal(tmp_path, suite, run(0, 1.0))


def test_an_agent_beside_recorded_runs_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path, "runs.json", run(0, 1.0))
    text = (folder / "agentmut.yaml").read_text()
    (folder / "agentmut.yaml").write_text(text.replace("{config", "{adapter: python, run: 'a:b', config"))
    with pytest.raises(UsageError, match=r"agent\.adapter: recorded runs need no agent"):
        check_suite(folder)


@pytest.mark.parametrize("outcome", [None, "reward"])
def test_files_of_several_formats_are_judged_each_by_its_own_score(
    tmp_path: Path, outcome: str | None
) -> None:
    """tau-bench has a reward, the traces of MLflow feedback, and runs of pydantic-ai have no score."""
    (tmp_path / "runs").mkdir()
    for name in ("mlflow.jsonl", "pydantic_ai.jsonl"):
        shutil.copy(TRACES / name, tmp_path / "runs" / name)
    (tmp_path / "runs" / "tau.json").write_text(json.dumps([run(0, 1.0), run(0, 0.0)]))
    found = rows(tmp_path, {"files": "runs/*"} | ({"outcome": outcome} if outcome else {}))
    asked = {"Where is my order W1?": (1, 1), "What about order W2?": (0, 1)}
    assert found == {"task_0": (1, 2)} | ({} if outcome else asked)
