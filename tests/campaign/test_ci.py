"""What a CI run would have seen, end to end: coin agents of known rates, through `measure`."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.result import Result
from agentmut.nouns.result_figures import CiNoticed
from agentmut.nouns.result_file import read_result
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.run_page import render
from agentmut.usecases.campaigns import measure

WORDS = ("alpha", "beta", "gamma")


@pytest.fixture(scope="module")
def folder(make_projects: Any) -> Path:
    """Three scenarios at 0.9, one idle rule and a tool that nobody calls."""
    projects = make_projects("ci")
    measure(
        projects.write(
            WORDS,
            idle=1,
            extra='\nRATES = dict.fromkeys(("alpha", "beta", "gamma"), 0.9)\n'
            'TOOLS = [{"name": "lookup", "description": "d", "parameters": {"type": "object"}}]\n',
            agent_section={"config": {"prompt": "prompt.md", "tools": f"{projects.module}:TOOLS"}},
            mutation={"operators": ["prompt.drop_instruction", "tool.remove"]},
            suite={"ci_runs": [1, 5], "threshold": 0.8},
            statistics={"baseline": 200},
        )
    )
    path: Path = projects.folder
    return path


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    (path,) = (folder / ".agentmut" / "runs").glob("*/result.json")
    return path


@pytest.fixture(scope="module")
def result(path: Path) -> Result:
    return read_result(path)


def row(result: Result, status: Status) -> MutantRow:
    return next(row for row in result.mutants if row.status is status)


@pytest.mark.whole
def test_three_scenarios_at_nine_tenths_alarm_falsely_more_than_a_quarter_of_the_time(result: Result) -> None:
    once = result.ci[0].false_alarm
    assert once.value is not None
    # standard error .81 * sqrt(3 * .09/200) = .03, four of them
    assert once.value == pytest.approx(1 - 0.9**3, abs=0.12)
    assert once.value == pytest.approx(1 - math.prod(b.passes / b.trials for b in result.baseline), abs=1e-6)
    assert once.low < 1 - 0.9**3 < once.high


def test_repeats_calm_the_false_alarm_and_keep_the_alarm(result: Result) -> None:
    once, often = result.ci
    assert (once.runs, often.runs) == (1, 5)
    # four of five are enough: red 1 - (.9^5 + 5 * .1 * .9^4)^3 = .226 at the true rates
    assert often.false_alarm.low < 0.226 < often.false_alarm.high
    assert often.killed.mutants == 3
    assert often.killed.let_through == 0
    assert often.killed.mean_red is not None and often.killed.mean_red > 0.9
    assert (often.survived.mutants, often.survived.let_through) == (1, 1)


def test_a_killed_mutant_counts_as_the_original_where_it_was_not_tried(result: Result) -> None:
    killed = row(result, Status.KILLED)
    tried = {e.scenario: e for e in killed.evidence}
    # every scenario reaches the prompt; the killing one stands for itself, the others have the original's runs too
    (killing,) = killed.killed_by
    # runs after the kill stand for the killing scenario: four of five have to pass, so two failures are red
    (job,) = killed.ci_jobs
    assert (job.scenario, job.complete) == (killing, True)
    failures = job.trials - job.passes
    assert failures == 2 or job.passes == 4
    # red after n runs: the first run failed in 1 of n - 1 orders; green: it passed in 3 of n - 1
    green = [1 - 1 / (job.trials - 1) if failures == 2 else 3 / (job.trials - 1)]
    for b in result.baseline:
        if b.scenario != killing:
            item = tried.get(b.scenario)
            own, passed = (item.trials, item.trials - item.failures) if item else (0, 0)
            green.append((b.passes + passed) / (b.trials + own))
    assert killed.ci_red[0].value == pytest.approx(1 - math.prod(green), abs=1e-6)
    assert killed.ci_as_original == len(WORDS) - len(tried)
    assert (killed.ci_red[0].high == 1) is (killed.ci_as_original > 0)


def test_a_survivor_was_tried_wherever_it_is_reached(result: Result) -> None:
    survived = row(result, Status.SURVIVED)
    assert len(survived.evidence) == len(WORDS)
    assert survived.ci_as_original == 0
    assert survived.ci_red[0].high < 1
    both = [
        (b.passes + e.trials - e.failures) / (b.trials + e.trials)
        for b, e in zip(result.baseline, sorted(survived.evidence, key=lambda e: e.scenario), strict=True)
    ]
    assert survived.ci_red[0].value == pytest.approx(1 - math.prod(both), abs=1e-6)


def test_a_mutant_that_no_scenario_reaches_alarms_like_the_original(result: Result) -> None:
    uncovered = row(result, Status.NO_COVERAGE)
    assert uncovered.ci_red == tuple(run.false_alarm for run in result.ci)


def test_a_result_from_before_still_loads_and_is_reported_without_the_section(
    path: Path, tmp_path: Path
) -> None:
    document = json.loads(path.read_text())
    del document["ci"]
    for mutant in document["mutants"]:
        del mutant["ci_red"], mutant["ci_as_original"]
    (tmp_path / "result.json").write_text(json.dumps(document))
    old = read_result(tmp_path / "result.json")
    assert (old.ci, old.mutants[0].ci_red) == ((), ())
    assert "CI run" not in render(old) + render_mutant(old, old.mutants[0])


def test_the_report_says_it_within_eighty_columns(result: Result) -> None:
    text = render(result)
    once = result.ci[0].false_alarm
    section = text[text.index("What a CI run would have seen") :].split("\n\n")[0]
    lines = section.splitlines()
    assert lines[1].split("  ")[-4:] == ["killed: red", "missed", "survived: red", "missed"]
    assert "9 of 10. So more runs can be red more often." in " ".join(lines)
    assert lines[2].split()[:2] == ["1", f"{once.value:.2f}"]
    assert lines[3].endswith("1 of 1")
    assert max(map(len, lines)) <= 80
    told = render_mutant(result, row(result, Status.SURVIVED))
    assert "Chance that a CI run is red" in told
    assert "stop as soon as it is decided" in " ".join(told.split())
    assert "So more runs can be red more often." in " ".join(told.split())


def test_one_run_of_each_scenario_needs_no_word_on_rounding(result: Result) -> None:
    assert "So more runs" not in render(result.model_copy(update={"ci": result.ci[:1]}))


def test_thousands_of_mutants_fit_into_the_columns(result: Result) -> None:
    many = CiNoticed(mutants=5000, let_through=4000, mean_red=0.5)
    runs = tuple(run.model_copy(update={"killed": many, "survived": many}) for run in result.ci)
    assert render(result.model_copy(update={"ci": runs})).count("4000 of 5000") == 4


@pytest.mark.whole
def test_a_mutant_that_never_arrived_says_nothing_about_ci(projects: Any) -> None:
    (projects.folder / "doc.md").write_text("Nobody reads this. " * 40)
    agent = {"config": {"prompt": "prompt.md", "context": ["doc.md"]}}
    project = projects.write(
        agent_section=agent, mutation={"operators": ["context.truncate"], "per_operator": 1}
    )
    found = measure(project)
    assert found.mutants[0].status is Status.NOT_APPLIED
    assert found.mutants[0].ci_red == ()
    assert found.ci[0].killed.mutants == 0
    assert found.ci[0].killed.mean_red is None


@pytest.mark.whole
def test_a_scenario_too_bad_to_be_tried_is_taken_as_the_originals_at_most(projects: Any) -> None:
    result = measure(projects.write(("alpha", "beta"), idle=1, extra='\nRATES = {"beta": 0.05}\n'))
    assert [b.testable for b in result.baseline] == [True, False]
    survived = row(result, Status.SURVIVED)
    assert survived.ci_as_original == 1
    assert survived.ci_red[0].high == 1


@pytest.mark.whole
def test_no_number_of_runs_switches_it_off(projects: Any) -> None:
    result = measure(projects.write(("alpha",), idle=1, suite={"ci_runs": []}))
    assert result.ci == ()
    assert all(mutant.ci_red == () for mutant in result.mutants)


@pytest.mark.whole
def test_a_scenario_that_is_always_skipped_is_left_out_and_blanks_nothing(projects: Any) -> None:
    skipped = '\ndef skip(*_):\n    raise RuntimeError("skipped: not today")\n'
    project = projects.write(
        ("alpha", "beta"),
        idle=1,
        extra=skipped,
        scenario=lambda word: {"setup": f"{projects.module}:skip"} if word == "beta" else {},
    )
    found = measure(project)
    assert [baseline.trials > 0 for baseline in found.baseline] == [True, False]
    alpha, once = found.baseline[0], found.ci[0].false_alarm
    assert once.value == pytest.approx(1 - alpha.passes / alpha.trials, abs=1e-6)
    assert once.high < 1
    assert {run.left_out for run in found.ci} == {1}
    killed = row(found, Status.KILLED).ci_red[0].value
    assert killed is not None and once.value is not None and killed > once.value
    assert "1 scenario without a run that says anything: left out here." in " ".join(render(found).split())


def test_every_kill_has_a_p_value_and_a_grade_and_every_survivor_a_drop_that_is_ruled_out(
    result: Result,
) -> None:
    killed = [r for r in result.mutants if r.status is Status.KILLED]
    assert len(killed) == 3
    assert all(r.p_value is not None and 0 < r.p_value <= 0.05 for r in killed)
    assert {r.grade for r in killed} <= {"certain", "strong", "moderate"}
    assert result.score.certain + result.score.strong + result.score.moderate == result.score.killed
    survived = row(result, Status.SURVIVED)
    assert (survived.p_value, survived.grade, survived.ruled_out) == (None, "", 0.2)
    assert row(result, Status.NO_COVERAGE).ruled_out is None
    assert result.score.false_kills is not None and result.score.missed is not None
    total = result.score.killed + result.score.survived + result.score.no_coverage
    assert result.score.low == pytest.approx((3 - result.score.false_kills) / total, abs=1e-6)
    assert result.score.high == pytest.approx((3 + result.score.missed) / total, abs=1e-6)
