"""`result.json`: its keys, its arithmetic, and that it survives a broken disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import StoreError, UsageError
from agentmut.campaign.decision.scoring import score, share_not_killed
from agentmut.nouns.mutant import Intent, Status
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import read_result, write_result
from agentmut.usecases.campaigns import measure

COUNTS = ["killed", "survived", "no_coverage", "undecided", "equivalent", "not_applied", "ignored", "error"]
KEYS = {
    "": "schema_version agentmut_version run_id seed agent baseline controls score robustness classes operators "
    "mutants ci cost",
    "agent": "adapter digest",
    "baseline": "scenario trials passes rate interval",
    "controls": "identity destroyed",
    "score": "value low high " + " ".join(COUNTS),
    "robustness": "value low high " + " ".join(COUNTS),
    "mutants": "id operator class intent status target before after description killed_by gap witness evidence "
    "trials usd reason ci_red ci_as_original",
    "ci": "runs false_alarm killed survived",
    "cost": "trials baseline_trials tokens usd seconds",
}


@pytest.fixture(scope="module")
def folder(make_projects: Any) -> Path:
    """A finished campaign with degrading and preserving mutants."""
    projects = make_projects("result")
    operators = ["prompt.drop_instruction", "prompt.synonym", "tool.remove"]
    extra = '\nTOOLS = [{"name": "lookup", "description": "d", "parameters": {"type": "object"}}]\n'
    config = {"prompt": "prompt.md", "tools": f"{projects.module}:TOOLS"}
    measure(
        projects.write(
            ("alpha", "beta"),
            extra=extra,
            mutation={"operators": operators},
            agent_section={"config": config},
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


@pytest.mark.whole
def test_the_file_has_every_promised_key(path: Path) -> None:
    document = json.loads(path.read_text())
    for name, keys in KEYS.items():
        part = document[name] if name else document
        part = part[0] if isinstance(part, list) else part
        assert set(keys.split()) <= set(part), name
    assert set(document["controls"]["identity"]) >= {"mutants", "killed"}
    assert set(document["mutants"][0]["target"]) == {"path", "line", "column"}
    evidence = next(row["evidence"] for row in document["mutants"] if row["evidence"])
    assert set(evidence[0]) >= {"scenario", "trials", "failures", "decision"}
    assert document["schema_version"] == 1


def test_it_comes_back_equal_through_its_own_models(path: Path, result: Result) -> None:
    assert Result.model_validate_json(result.model_dump_json(by_alias=True)) == result
    assert json.loads(result.model_dump_json(by_alias=True)) == json.loads(path.read_text())


def test_the_score_is_killed_among_killed_survived_and_uncovered_degrading_mutants(result: Result) -> None:
    degrading = [row.status for row in result.mutants if row.intent is Intent.DEGRADE]
    killed, survived, uncovered = (
        degrading.count(s) for s in (Status.KILLED, Status.SURVIVED, Status.NO_COVERAGE)
    )
    assert (killed, survived, uncovered) == (2, 2, 1)
    assert result.score.value == 0.4
    assert result.score.low is not None and result.score.high is not None
    assert result.score.low <= 0.4 <= result.score.high
    assert [getattr(result.score, name) for name in COUNTS] == [2, 2, 1, 0, 0, 0, 0, 0]


def test_classes_count_degrading_mutants_only(result: Result) -> None:
    assert result.classes["prompt"].value == 0.5
    assert result.classes["tool"].value == 0.0
    totals = [sum(getattr(group, name) for name in COUNTS) for group in result.classes.values()]
    assert sum(totals) == sum(row.intent is Intent.DEGRADE for row in result.mutants)


def test_robustness_is_the_share_of_preserving_mutants_that_were_not_killed(result: Result) -> None:
    preserving = [row.status for row in result.mutants if row.intent is Intent.PRESERVE]
    decided = [s for s in preserving if s in (Status.KILLED, Status.SURVIVED, Status.NO_COVERAGE)]
    assert decided
    expected = 1 - decided.count(Status.KILLED) / len(decided)
    assert result.robustness.value == pytest.approx(expected, abs=1e-6)
    assert result.operators["prompt.synonym"].value == result.robustness.value


def test_every_trial_is_accounted_for(result: Result) -> None:
    controls = result.controls.identity.trials + result.controls.destroyed.trials
    assert result.cost.baseline_trials == sum(row.trials for row in result.baseline)
    assert result.service is not None
    beside = result.service.sentinels + result.service.confirming
    after_kills = sum(job.trials for row in result.mutants for job in row.ci_jobs)
    assert result.cost.trials == (
        result.cost.baseline_trials
        + controls
        + beside
        + sum(row.trials for row in result.mutants)
        + after_kills
    )
    for row in result.mutants:
        assert row.trials == sum(evidence.trials for evidence in row.evidence)


def test_a_mutant_points_at_its_line_in_the_users_file(folder: Path, result: Result) -> None:
    lines = (folder / "prompt.md").read_text().splitlines()
    rows = [row for row in result.mutants if row.operator == "prompt.drop_instruction"]
    assert rows
    for row in rows:
        assert row.target.path == "prompt.md"
        assert row.target.line is not None
        assert lines[row.target.line - 1] in row.before


def test_a_rate_comes_with_its_wilson_interval(result: Result) -> None:
    assert result.baseline
    for row in result.baseline:
        assert row.rate == row.passes / row.trials
        assert row.interval is not None
        assert row.interval.low < row.rate < row.interval.high
        assert (row.interval.method, row.interval.level) == ("wilson", 0.95)


@pytest.mark.whole
def test_paper_scoring_counts_all_operators(make_projects: Any) -> None:
    projects = make_projects("paper")
    operators = {"operators": ["prompt.drop_instruction", "prompt.synonym"]}
    project = projects.write(("alpha",), mutation=operators, statistics={"scoring": "paper"})
    found = measure(project)
    counted = sum(getattr(found.score, name) for name in COUNTS)
    assert counted == len(found.mutants) > 1


def test_without_mutants_every_figure_is_null() -> None:
    empty = score([])
    assert (empty.value, empty.low, empty.high) == (None, None, None)
    assert share_not_killed(empty) == empty


def test_undecided_mutants_alone_leave_no_value_and_the_widest_bounds() -> None:
    open_ = score([(Status.UNDECIDED, None), (Status.UNDECIDED, None)])
    assert (open_.value, open_.low, open_.high, open_.undecided) == (None, 0.0, 1.0, 2)


def test_paper_scoring_divides_by_all_that_are_not_equivalent() -> None:
    rows = [(Status.NO_COVERAGE, None), (Status.UNDECIDED, None), (Status.EQUIVALENT, None)]
    assert score(rows).value == score(rows, paper=True).value == 0.0
    only_open: list[tuple[Status, Any]] = [(Status.UNDECIDED, None)]
    assert (score(only_open).value, score(only_open, paper=True).value) == (None, 0.0)  # 0/0 and 0/1


def test_what_is_not_judged_leaves_the_score_and_is_counted() -> None:
    statuses = [Status.NO_COVERAGE, Status.NOT_APPLIED, Status.IGNORED, Status.ERROR, Status.EQUIVALENT]
    found = score([(status, None) for status in statuses])
    assert (found.value, found.high) == (0.0, 0.0)
    assert [found.not_applied, found.ignored, found.error, found.equivalent] == [1, 1, 1, 1]


def test_a_result_is_written_whole_or_not_at_all(result: Result, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot write .*The trials are in the store"):
        write_result(result, tmp_path / "runs" / "x")
    path = write_result(result, tmp_path / "ok")
    assert [found.name for found in (tmp_path / "ok").iterdir()] == ["result.json"]
    assert read_result(path) == result


def test_a_result_with_odd_characters_is_written(result: Result, tmp_path: Path) -> None:
    odd = result.model_copy(update={"problem": "half a \ud800 pair"})
    assert read_result(write_result(odd, tmp_path)).problem == "half a ? pair"


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"schema_version": 1'])
def test_a_damaged_result_is_a_usage_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "result.json").write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read as a result"):
        read_result(tmp_path / "result.json")
    with pytest.raises(UsageError, match="does not exist"):
        read_result(tmp_path / "none.json")


def test_a_result_of_a_later_schema_is_not_read_as_one_of_this(result: Result, tmp_path: Path) -> None:
    path = write_result(result.model_copy(update={"schema_version": 99}), tmp_path)
    with pytest.raises(UsageError, match="a result of schema 99"):
        read_result(path)


def test_a_damaged_result_is_told_by_the_field_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text('{"run_id": 3}')
    with pytest.raises(UsageError, match="agentmut_version: is missing"):
        read_result(path)
