"""Recorded runs come into the store once, without secrets, and with what tells them apart."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut._base.moments import moment
from agentmut._base.whole_files import locked
from agentmut.cli.entry import app
from agentmut.store import ImportQuery, Store
from agentmut.store.imported import Imports
from agentmut.usecases import ImportReport, ImportWish, analyze, check_suite, import_traces

TRACES = Path(__file__).parents[1] / "testdata" / "traces"
KEY = "sk-proj-" + "a1B2c3D4e5F6" * 4


def run(task: int, reward: float, answer: str = "Hello!", trial: int = 0) -> dict[str, Any]:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
    return {"task_id": task, "reward": reward, "info": {"kind": f"k{task % 2}"}, "traj": said, "trial": trial}


def imported(folder: Path, *runs: dict[str, Any], name: str = "runs.json", **wish: Any) -> ImportReport:
    (folder / name).write_text(json.dumps(runs))
    return import_traces([name], folder, ImportWish(**wish))


def stored(folder: Path, asked: ImportQuery = ImportQuery()) -> list[tuple[str, str]]:  # noqa: B008
    with closing(Store(folder / ".agentmut" / "store.db")) as store:
        return [(each.trial.scenario, each.trial.outcome.value) for each in store.imports.found(asked)]


def test_a_growing_file_brings_its_new_runs_alone(tmp_path: Path) -> None:
    assert imported(tmp_path, run(0, 1.0), run(0, 1.0, trial=1)).added == 2
    grown = imported(tmp_path, run(0, 1.0), run(0, 1.0, trial=1), run(1, 0.0), name="later.json")
    assert (grown.added, grown.known, grown.stored) == (1, 2, 3)


def test_other_commands_may_be_at_work_meanwhile(tmp_path: Path) -> None:
    with locked(tmp_path / ".agentmut"):  # as a campaign holds it
        assert imported(tmp_path, run(0, 1.0), run(1, 0.0)).added == 2
        assert analyze(tmp_path).evidence.origins.runs == 2


def test_imports_at_once_keep_each_run_once(tmp_path: Path) -> None:
    runs = [run(task, 1.0) for task in range(250)]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    with ThreadPoolExecutor() as pool:
        reports = list(pool.map(lambda _: import_traces(["runs.json"], tmp_path), range(3)))
    assert sum(report.added for report in reports) == len(stored(tmp_path)) == 250


def test_an_import_that_is_ended_in_between_is_brought_to_its_end_by_the_same_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, whole, pages = [run(task, 1.0) for task in range(250)], Imports._added, iter(range(9))

    def ended(self: Imports, rows: Any) -> int:
        if next(pages):
            raise KeyboardInterrupt
        return whole(self, rows)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Imports, "_added", ended)
        imported(tmp_path, *runs)
    again = imported(tmp_path, *runs)
    assert (again.added, again.known, again.stored) == (150, 100, 250)


def test_a_run_that_is_still_at_work_is_left_to_the_next_import(tmp_path: Path) -> None:
    """Spans are written as they end, so the first one comes last; a trace of another service never has it."""
    lines = (TRACES / "traceloop_langchain.jsonl").read_text().splitlines()
    first = [line for line in lines if json_trace(line) == json_trace(lines[0])]
    growing, ended = tmp_path / "growing.jsonl", json_end(first[-1])
    growing.write_text("\n".join(first[:-1]) + '\n{"resourceSpans": [{"res')
    begun = import_traces(["growing.jsonl"], tmp_path, now=lambda: ended + 60)
    assert (begun.added, begun.unfinished, len(begun.broken)) == (0, 1, 1)
    growing.write_text("\n".join(first) + "\n")
    assert import_traces(["growing.jsonl"], tmp_path, now=lambda: ended + 60).added == 1
    (tmp_path / "old.jsonl").write_text("\n".join(first[:-1]) + "\n")
    old = import_traces(["old.jsonl"], tmp_path, now=lambda: ended + 7200)
    assert (old.added, old.unfinished) == (1, 0)


def json_trace(line: str) -> Any:
    return span_of(line)["traceId"]


def json_end(line: str) -> float:
    return int(span_of(line)["endTimeUnixNano"]) / 1e9


def span_of(line: str) -> Any:
    return json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]


def test_a_file_whose_name_looks_like_a_pattern_is_read(tmp_path: Path) -> None:
    assert imported(tmp_path, run(0, 1.0), name="runs[1].json").added == 1


def test_two_runs_that_are_alike_are_two_runs(tmp_path: Path) -> None:
    assert imported(tmp_path, run(0, 1.0), run(0, 1.0)).added == 2
    assert imported(tmp_path, run(0, 1.0), run(0, 1.0)).added == 0


def test_a_second_import_gives_another_scenario_and_outcome_to_the_same_runs(tmp_path: Path) -> None:
    runs = run(0, 0.0), run(1, 1.0)
    imported(tmp_path, *runs)
    assert sorted(stored(tmp_path)) == [("task_0", "fail"), ("task_1", "pass")]
    again = imported(tmp_path, *runs, outcome="evaluators", scenario_by="info.kind")
    assert again.added == 0
    assert sorted(stored(tmp_path)) == [("k0", "unjudged"), ("k1", "unjudged")]


def test_the_score_of_one_format_says_nothing_against_runs_of_another(tmp_path: Path) -> None:
    """Nobody has judged them yet; asked for by name, the missing score makes them no evidence."""
    files = str(TRACES / "langsmith.jsonl"), "runs.json"
    (tmp_path / "runs.json").write_text(json.dumps([run(0, 1.0)]))
    assert import_traces(files, tmp_path, ImportWish()).outcomes == {"pass": 1, "unjudged": 2}
    named = import_traces(files, tmp_path, ImportWish(outcome="reward"))
    assert named.outcomes == {"no_evidence": 2, "pass": 1}


def test_a_secret_never_reaches_the_store(tmp_path: Path) -> None:
    report = imported(tmp_path, run(0, 1.0, answer=f"The key is {KEY}."), run(1, 1.0))
    assert report.masked == 1
    with closing(Store(tmp_path / ".agentmut" / "store.db")) as store:
        kept = [each.trial.model_dump_json() for each in store.imports.found()]
    assert not any(KEY in text for text in kept)
    assert any("The key is [redacted]" in text for text in kept)


def test_a_secret_of_the_prompt_is_masked_in_every_run_that_has_it(tmp_path: Path) -> None:
    runs = [run(number, 1.0) for number in range(3)]
    for one in runs[:2]:
        one["traj"].insert(0, {"role": "system", "content": f"Your key is {KEY}."})
    assert imported(tmp_path, *runs).masked == 2
    with closing(Store(tmp_path / ".agentmut" / "store.db")) as store:
        prompts = [each.trial.trial.config.prompt for each in store.imports.found()]
    assert prompts == ["Your key is [redacted].", "Your key is [redacted].", ""]


def test_runs_of_before_a_time_and_runs_without_one_are_left_out(tmp_path: Path) -> None:
    timed: dict[str, Any] = {
        "timestamp": "2026-01-01",
        "info": {"agent_info": {}},
        "tasks": [],
        "simulations": [],
    }
    times = ("2026-01-01T00:00:00", "2026-03-01T00:00:00")
    for number, start in enumerate(times):
        timed["simulations"].append(
            {
                "id": str(number), "task_id": "t", "trial": number, "seed": 1, "start_time": start,
                "termination_reason": "agent_stop", "reward_info": {"reward": 1.0},
                "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}],
            }
        )  # fmt: skip
    (tmp_path / "tau2.json").write_text(json.dumps(timed))
    late = ImportWish(format="tau2", since=moment("2026-02-01", 0.0, "--since"))
    report = import_traces(["tau2.json"], tmp_path, late)
    assert (report.added, report.earlier) == (1, 1)
    assert imported(tmp_path, run(0, 1.0), since=0.0).earlier == 1


def test_a_suite_looks_at_what_was_imported(tmp_path: Path) -> None:
    imported(tmp_path, run(0, 1.0), run(0, 0.0, trial=1), run(1, 1.0))
    suite = {"traces": {"imported": {"scenarios": ["task_0"]}}}
    (tmp_path / "agentmut.yaml").write_text(f"version: 1\nsuite: {json.dumps(suite)}\n")
    report = check_suite(tmp_path)
    assert {row.scenario: (row.passes, row.trials) for row in report.scenarios} == {"task_0": (1, 2)}
    assert any(
        "all 2 trials were run and recorded by another tool (tau_bench" in note for note in report.notes
    )


def test_a_sample_is_that_of_its_seed_whatever_order_runs_were_imported_in(tmp_path: Path) -> None:
    runs = [run(n, 1.0) for n in range(40)]
    for name, given in (("a", runs), ("b", runs[::-1])):
        (tmp_path / name).mkdir()
        imported(tmp_path / name, *given)
    first, second = (sorted(stored(tmp_path / n, ImportQuery(sample=7, seed=3))) for n in ("a", "b"))
    other = sorted(stored(tmp_path / "a", ImportQuery(sample=7, seed=4)))
    assert (len(first), first, first != other) == (7, second, True)


def test_old_runs_are_forgotten_by_their_start_or_else_by_their_import(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text(json.dumps([run(0, 1.0)]))
    import_traces(["runs.json"], tmp_path, now=lambda: 100.0)
    with closing(Store(tmp_path / ".agentmut" / "store.db")) as store:
        assert (store.imports.older(100.0), store.imports.older(101.0)) == (0, 1)
        assert (store.imports.forget(100.0), store.imports.forget(101.0), store.imports.totals().trials) == (
            0,
            1,
            0,
        )


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"outcome": "grade"}, "--outcome: no record has the score 'grade'"),
        (
            {"scenario_by": "info.colour"},
            "--scenario-by: the record in runs.json:1 has no field 'info.colour'",
        ),
        ({"format": "tau"}, "unknown trace format 'tau'"),
    ],
)
def test_what_records_do_not_have_is_told_and_nothing_is_kept(
    tmp_path: Path, wish: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        imported(tmp_path, run(0, 1.0), **wish)
    assert stored(tmp_path) == []


def test_the_page_counts_one_as_one_and_nothing_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text(json.dumps(run(0, 1.0)) + "\n{broken\n")
    page = (
        CliRunner().invoke(app, ["import", str(tmp_path / "runs.jsonl"), "--project", str(tmp_path)]).output
    )
    assert "1 record could not be read" in page
    assert "The store holds 1 imported run (" in page
    late = ["import", str(tmp_path / "runs.jsonl"), "--project", str(tmp_path), "--since", "2999-01-01"]
    assert "0 scenarios" not in CliRunner().invoke(app, late).output


def test_watch_lists_what_it_could_not_read_with_place_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(run(0, 1.0)) + "\n" + "{broken\n" * 7)
    done = CliRunner().invoke(app, ["watch", str(path), "--project", str(tmp_path)])
    assert done.exit_code == 3
    assert "7 records could not be read:\n  runs.jsonl:2: " in done.output
    assert "and 2 more" in done.output
    found = CliRunner().invoke(app, ["watch", str(path), "--project", str(tmp_path), "--json"])
    assert [one["place"]["line"] for one in json.loads(found.output)["broken"]] == [2, 3, 4, 5, 6, 7, 8]


def test_watch_says_why_it_found_no_run_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    done = CliRunner().invoke(app, ["watch", str(tmp_path / "notes.json"), "--project", str(tmp_path)])
    assert "notes.json: no format recognises it" in str(done.exception)


def test_runs_without_times_come_back_from_atif_in_their_order(tmp_path: Path) -> None:
    imported(tmp_path, *(run(0, float(number < 2), trial=number) for number in range(12)))
    folder, again = tmp_path / "out", tmp_path / "again"
    again.mkdir()
    words = ["export", str(folder), "--format", "atif", "--imported", "--project", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    import_traces([f"{folder}/*.json"], again)
    assert [outcome for _, outcome in stored(again)] == ["pass"] * 2 + ["fail"] * 10


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="--since: 'lately' is no time"):
        moment("lately", 0.0, "--since")


def test_clean_removes_old_imports_on_demand_alone(tmp_path: Path) -> None:
    imported(tmp_path, run(0, 1.0))
    (tmp_path / "agentmut.yaml").write_text("version: 1\nsuite: {traces: runs.json}\n")
    for more, left in (((), 1), (("--imported-before", "1d"), 1), (("--imported-before", "2999-01-01"), 0)):
        done = CliRunner().invoke(app, ["clean", "--project", str(tmp_path), "--yes", *more])
        assert done.exit_code == 0, done.output
        assert len(stored(tmp_path)) == left


def test_old_imported_runs_of_a_folder_without_a_project_are_removed(tmp_path: Path) -> None:
    imported(tmp_path, run(0, 1.0), run(1, 0.0))
    given = ["clean", "--imported-before", "2999-01-01", "--project", str(tmp_path), "--yes", "--json"]
    for more, left in ((["--dry-run"], 2), ([], 0)):
        found = CliRunner().invoke(app, [*given, *more], catch_exceptions=False)
        assert json.loads(found.output)["imports_removed"] == 2
        assert len(stored(tmp_path)) == left
