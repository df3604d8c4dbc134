"""Infrastructure trouble, broken preconditions and hostile agents: no evidence, and nothing lost."""

import sys
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.nouns.mutant import Status
from agentmut.nouns.result_file import read_result
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store

pytestmark = pytest.mark.whole

OUTAGE = """
calls = 0
inner = run
async def run(config, input):
    global calls
    calls += 1
    if BROKEN(calls, input):
        raise ConnectionError("connection reset")
    return await inner(config, input)
"""
NO_RETRY = {"retries": 0, "concurrency": 1}


def broken_when(condition: str) -> str:
    return OUTAGE + f"\nBROKEN = lambda calls, input: {condition}\n"


def test_trouble_now_and_then_changes_no_pass_rate(projects: Any) -> None:
    project = projects.write(extra=broken_when("calls % 7 == 0"), execution=NO_RETRY)
    result = measure(project)
    assert result.status == "finished"
    for row in result.baseline:
        assert row.trials == 40  # what was no evidence was replaced
        assert row.no_evidence > 0
        assert row.rate is not None and row.rate > 0.8
    assert {row.status for row in result.mutants} <= {Status.KILLED, Status.SURVIVED}


def test_a_retry_that_passes_leaves_no_trace_in_the_counts(projects: Any) -> None:
    execution = {"retries": 3, "concurrency": 1}
    result = measure(projects.write(("alpha",), idle=0, extra=broken_when("calls == 5"), execution=execution))
    assert result.baseline[0].no_evidence == 0


def test_a_dead_endpoint_ends_the_run_and_a_second_run_repeats_no_finished_trial(
    projects: Any, told: Any
) -> None:
    whole = measure(projects.write())
    (projects.folder / ".agentmut" / "store.db").unlink()
    agent = {"version": "1"}  # the service dies, the agent's code does not change
    keys = {"adapter": "python", "run": f"{projects.module}:run", "config": {"prompt": "prompt.md"}} | agent
    project = projects.write(extra=broken_when("calls > 200"), execution=NO_RETRY, agent_section=keys)
    with pytest.raises(RunError, match=r"\d+ trials ended in infrastructure trouble .*connection reset"):
        reimported(projects, project)
    (path, *_) = sorted(
        (projects.folder / ".agentmut" / "runs").glob("*/result.json"), key=lambda p: p.stat().st_mtime
    )[::-1]
    failed = read_result(path)
    assert failed.status == "failed"
    healed = reimported(projects, projects.write(agent_section=keys))
    assert healed.cost.reused == 200
    assert healed.cost.trials == whole.cost.trials - 200
    assert told(healed) == told(whole)


def reimported(projects: Any, project: Any) -> Any:
    sys.modules.pop(projects.module, None)
    return measure(project)


def test_an_endpoint_that_is_dead_from_the_start_is_found_in_the_baseline(projects: Any) -> None:
    with pytest.raises(RunError, match=r"no trial gave evidence: infrastructure: .*connection reset"):
        measure(projects.write(extra=broken_when("True"), execution=NO_RETRY))


def test_a_scenario_whose_setup_fails_is_reported_and_the_others_are_measured(projects: Any) -> None:
    extra = """
def broken_setup(scenario):
    raise OSError("no database")
"""

    def scenario(word: str) -> dict[str, Any]:
        return {"setup": f"{projects.module}:broken_setup"} if word == "beta" else {}

    result = measure(projects.write(extra=extra, scenario=scenario))
    baseline = {row.scenario: row for row in result.baseline}
    assert (baseline["beta"].trials, baseline["beta"].testable) == (0, False)
    assert "no database" in baseline["beta"].reason
    assert baseline["alpha"].testable
    assert all(e.scenario != "beta" for row in result.mutants for e in row.evidence)
    unreached = next(row for row in result.mutants if "beta" in row.before)
    assert unreached.status is Status.SURVIVED  # no other scenario asks for it


def test_an_evaluator_that_raises_ends_the_run_and_keeps_the_trials(projects: Any) -> None:
    extra = "\ndef judge(scenario, trace):\n    raise KeyError('verdict')\n"
    project = projects.write(
        extra=extra, scenario=lambda word: {"evaluators": [{"python": f"{projects.module}:judge"}]}
    )
    with pytest.raises(RunError, match="raised KeyError: 'verdict'") as raised:
        measure(project)
    assert raised.value.exit_code == 4
    with open_store(project) as store:
        (run,) = store.runs()
        assert run.status == "failed"
        assert store.counts(run.id)[0] > 0


HOSTILE = {
    "a lone surrogate": '"\\ud800 alpha"',
    "a character that ends strings": '"alpha \\x00 alpha"',
    "not a number": '{"alpha": float("nan"), "b": float("inf")}',
    "bytes": 'b"\\xff alpha"',
    "a huge number": '{"alpha": 10 ** 400}',
    "an object": 'type("Answer", (), {"__str__": lambda self: "alpha"})()',
    "a long text": '"alpha" * 100_000',
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_whatever_an_agent_answers_the_campaign_ends_and_its_second_run_agrees(
    projects: Any, told: Any, answer: str
) -> None:
    extra = f"""
inner = run
async def run(config, input):
    good = await inner(config, input) == "alpha"
    return {answer} if good else "no \\ud800 idea"
"""
    first = measure(projects.write(("alpha",), idle=0, extra=extra))
    assert first.status == "finished"
    again = measure(projects.load())
    assert again.cost.trials == 0
    assert told(again) == told(first)
