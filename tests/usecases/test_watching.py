"""Runs that arrive are held against the first ones: a change is told, its absence is not called a change."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from agentmut.insight import NearestVersion, ScenarioRun, nearest_version, scorer_of
from agentmut.insight.fingerprint import Feature, Fingerprint
from agentmut.store import ImportQuery
from agentmut.usecases import WatchReport, WatchWish, analyze, import_traces, watch_imports


def run(number: int, rng: random.Random, *, verifies: float, passes: float, version: int) -> dict[str, Any]:
    scenario = rng.choice(["refund", "cancel"])
    tools = [*(["verify_identity"] if rng.random() < verifies else []), "get_order", f"{scenario}_order"]
    said: list[dict[str, Any]] = [
        {"role": "system", "content": f"Version {version}."},
        {"role": "user", "content": f"{scenario} A-1"},
    ]
    for at, tool in enumerate(tools):
        call = {"id": f"c{at}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "content": "ok"},
        ]
    said.append({"role": "assistant", "content": rng.choice(["Done.", "All of it is done."])})
    reward = float(rng.random() < passes)
    return {"task_id": scenario, "trial": number, "reward": reward, "info": {}, "traj": said}


def watched(
    folder: Path, before: int, after: int, *, verifies: float = 0.95, passes: float = 0.9
) -> WatchReport:
    rng = random.Random(7)
    old = [run(n, rng, verifies=0.95, passes=0.9, version=1) for n in range(before)]
    new = [run(before + n, rng, verifies=verifies, passes=passes, version=2) for n in range(after)]
    (folder / "runs.json").write_text(json.dumps(old + new))
    import_traces(["runs.json"], folder)
    return watch_imports(folder, WatchWish(in_control=100.0))


def alarms(report: WatchReport, of: str) -> list[int | None]:
    return [row.alarm_at for row in report.charts if row.of == of]


def test_runs_of_an_unchanged_agent_raise_no_alarm(tmp_path: Path) -> None:
    report = watched(tmp_path, 80, 0)
    assert (report.changed, report.enough, report.reference, report.watched) == (False, True, 50, 30)
    assert all((row.in_control or 0) >= 400 for row in report.charts)  # four charts share 100
    assert report.within_scenarios


def test_a_fall_of_the_pass_rate_alarms_on_the_pass_rate_alone(tmp_path: Path) -> None:
    report = watched(tmp_path, 70, 60, passes=0.3)
    assert all(at is not None and 20 < at < 60 for at in alarms(report, "pass rate"))
    assert alarms(report, "behaviour") == [None, None]
    assert report.changed


def test_a_changed_behaviour_alarms_though_the_pass_rate_is_as_it_was(tmp_path: Path) -> None:
    report = watched(tmp_path, 70, 60, verifies=0.0)
    assert alarms(report, "pass rate") == [None, None]
    assert any(at is not None and at > 20 for at in alarms(report, "behaviour"))


def test_the_version_of_watched_runs_is_told_by_their_behaviour(tmp_path: Path) -> None:
    first = watched(tmp_path, 70, 90, verifies=0.0)
    assert first.nearest is None  # the alarm comes before five runs of the second version are known
    second = analyze(tmp_path).evidence.versions[1]
    nearest = watch_imports(tmp_path, WatchWish(ImportQuery(versions=(second,)))).nearest
    assert nearest is not None
    assert (nearest.stated, nearest.by_chance, len(nearest.versions)) == ((nearest.version,), 0.5, 2)
    assert nearest.error_of_batch <= nearest.error_of_one < 0.2


def test_the_error_of_a_version_is_that_of_further_runs_of_it() -> None:
    """One version is 0 in all runs, the other one is 0 in four of ten: a run at 0 is nearer to the first."""
    rng = random.Random(5)

    def runs(count: int, share: float) -> list[ScenarioRun]:
        return [made({"a": float(rng.random() < share)}) for _ in range(count)]

    known = {"steady": runs(60, 0.0), "varying": runs(60, 0.6)}
    found = nearest_version(known, runs(1, 0.0), ())
    assert found is not None
    told = [nearest_version(known, [run], ()) for run in runs(200, 0.6)]
    wrong = sum(each is not None and each.version == "steady" for each in told) / 200
    assert found.errors_of_one["steady"] == 0.0
    assert found.errors_of_one["varying"] == pytest.approx(wrong, abs=0.2)
    assert found.error_of_one == sum(found.errors_of_one.values()) / 2


def test_before_the_reference_is_whole_nothing_is_watched(tmp_path: Path) -> None:
    report = watched(tmp_path, 40, 0)
    assert (report.enough, report.changed) == (False, False)
    assert (report.origins.runs, report.origins.foreign_share) == (40, 1.0)
    assert {row.in_control for row in report.charts} == {None}
    with pytest.raises(UsageError, match="--reference: give at least 20 runs"):
        watch_imports(tmp_path, WatchWish(reference=10))


def made(features: dict[str, float], scenario: str = "s") -> ScenarioRun:
    return ScenarioRun(scenario, Fingerprint({Feature(n): v for n, v in features.items()}, (), frozenset()))


def test_a_score_is_the_mean_distance_from_the_usual_run_in_scales() -> None:
    # fitted by the runs at 0, 2 and 4: median 2, mean distance 4/3; the others are scored
    scorer = scorer_of(
        [made({"a": 0}), made({"a": 2}), made({"a": 2}), made({"a": 10}), made({"a": 4}), made({})]
    )
    assert scorer.reference == pytest.approx((0.0, 5.0, 1.5))  # |10 - 2| / (4/3) = 6 counts as 5
    assert scorer.score(made({"a": 4, "new": 1})) == pytest.approx(1.5 + 5)
    assert scorer.score(made({"a": 4}, "another")) is None


def test_versions_that_behave_alike_are_told_apart_no_better_than_by_guessing() -> None:
    rng = random.Random(3)
    known = {name: [made({"a": rng.random()}) for _ in range(60)] for name in ("one", "two")}
    found = nearest_version(known, known["one"][:20], ["one"])
    assert found is not None
    assert found.error_of_one == pytest.approx(0.5, abs=0.15)
    assert nearest_version({"one": known["one"]}, known["one"], []) is None


def test_scenarios_that_take_turns_are_all_scored() -> None:
    turns = [made({"a": i % 5}, f"s{i % 2}") for i in range(40)]
    scorer = scorer_of(turns)
    assert len(scorer.reference) == 20
    assert scorer.score(made({"a": 2}, "s1")) is not None


def test_a_batch_of_one_run_is_told_as_a_single_run() -> None:
    from agentmut.cli.verbs.watch_verb import _errors

    errors = {"1": 0.08, "2": 0.0}
    nearest = NearestVersion(
        version="2", stated=("2",), versions=("1", "2"), runs=9, by_chance=0.5, batch=1,
        error_of_batch=0.04, errors_of_batch=errors, error_of_one=0.04, errors_of_one=errors,
    )  # fmt: skip
    wrong = "of known versions are matched to a wrong version"
    assert _errors(nearest) == f"Single runs {wrong} 0.04 of the time (1: 0.08, 2: 0.00), by guessing 0.50."
    many = nearest.model_copy(update={"batch": 17})
    by_version = "(1: 0.08, 2: 0.00)"
    said = f"0.04 of the time {by_version}, single runs 0.04 {by_version}, by guessing 0.50."
    assert _errors(many) == f"Batches of 17 runs {wrong} {said}"


def said(folder: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["watch", "--project", str(folder), "--in-control", "100", *options])
    return " ".join(done.output.split())


def test_runs_of_two_versions_say_so_and_one_version_is_watched_alone(tmp_path: Path) -> None:
    report = watched(tmp_path, 70, 60, verifies=0.0)
    first, second = (one.version for one in report.versions)
    assert [(one.reference, one.watched) for one in report.versions] == [(50, 20), (0, 60)]
    page = said(tmp_path)
    assert page.startswith(
        "CHANGED: at least one chart raises an alarm. These runs come from 2 versions of the agent"
    )
    assert (
        f"({first}: 50 of the first, 20 of the later runs; {second}: 0 of the first, 60 of the later runs)"
        in page
    )
    assert f"To watch one version alone, give its name: `--version {first}`." in page
    alone = said(tmp_path, "--version", first)
    assert alone.startswith("No change is shown. 20 runs are compared with the first 50.")
    known = f"of the versions {', '.join(sorted((first, second)))}"
    with pytest.raises(
        UsageError, match=f"fits --since and --version. The store holds 130 imported runs {known}"
    ):
        watch_imports(tmp_path, WatchWish(ImportQuery(versions=("9",))))


def test_each_chart_is_a_sentence(tmp_path: Path) -> None:
    watched(tmp_path, 70, 60, passes=0.3)
    page = said(tmp_path)
    alarm = (
        r"The CUSUM chart of the pass rate raises an ALARM at run \d+ of 80: runs.json:\d+\. Without a change"
    )
    assert re.search(alarm, page), page
    assert (
        "The Page-Hinkley chart of behaviour raises no alarm in 80 runs. Without a change it raises one"
        in page
    )


def test_charts_that_watch_nothing_say_why(tmp_path: Path) -> None:
    watched(tmp_path, 40, 0)
    page = said(tmp_path)
    assert page.startswith("Nothing is watched yet.")
    assert "The CUSUM chart of behaviour watches nothing: no run is stored after the reference runs." in page
