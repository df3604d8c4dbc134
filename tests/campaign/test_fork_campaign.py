"""Campaigns whose mutants go along recorded runs of the original: what is asked, what it costs, what is refused."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import yaml

from agentmut.campaign.preparation.identity import trial_id
from agentmut.campaign.running.forks import BLOCK, Forks
from agentmut.campaign.trials import Launch
from agentmut.nouns.cassette import Cassette, Take
from agentmut.nouns.execution import Execution
from agentmut.nouns.mutant import Status
from agentmut.simulator.service.background import Simulator
from agentmut.store.cassettes import write_cassette
from agentmut.store.store import Store
from agentmut.trial.executor import TrialRequest
from agentmut.usecases.campaigns import measure

AGENT = """
import json, os
import agentmut, httpx


@agentmut.tool
def order(number: str) -> dict:
    return {"number": number, "status": "delivered", "days": 12, "signed": True}


async def run(config, input):
    said = [{"role": "system", "content": config.prompt}]
    async with httpx.AsyncClient() as client:
        for text in (input, None):
            said.append({"role": "user", "content": text or f"The order: {json.dumps(order('A17'))}"})
            body = {"model": config.model.name, "messages": said}
            reply = await client.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body)
            said.append(reply.json()["choices"][0]["message"])
    return said[-1]["content"]
"""
PRICE = {"input": 1.0, "output": 1.0}
"""US dollars per million tokens."""


def write(projects: Any, *, fork: bool = True) -> Any:
    def scenario(word: str) -> dict[str, Any]:
        return {"input": "Where is my parcel?", "evaluators": [{"contains": "Take care!"}]}

    projects.write(
        ("alpha",),
        agent=AGENT,
        scenario=scenario,
        mutation={"operators": ["tool.result_truncated", "tool.result_slow"], "slow_seconds": 0.1},
        statistics={"baseline": 20, "delta": 0.6},
        execution={"fork": fork},
        budget={"prices": {"sim-large": PRICE}},
    )
    folder = projects.folder
    (folder / "prompt.md").write_text('- End every answer with "Take care!".\n')
    (folder / "tools.yaml").write_text(yaml.safe_dump([{"name": "order"}]))
    written = yaml.safe_load((folder / "agentmut.yaml").read_text())
    written["agent"]["config"] |= {"tools": "tools.yaml", "model": {"name": "sim-large"}}
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(written))
    return projects.load()


@pytest.fixture
def simulator(agentmut_simulator_factory: Callable[..., Simulator], monkeypatch: Any) -> Simulator:
    found = agentmut_simulator_factory(seed=3)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found


def stored(projects: Any) -> list[Execution]:
    """All runs that the project's store has."""
    store = Store(projects.folder / ".agentmut" / "store.db")
    try:
        return [
            one.execution
            for run in store.runs()
            for m in ("", *ids(run.plan))
            for one in store.trials_of(run.id, m)
        ]
    finally:
        store.close()


def ids(plan: str) -> list[str]:
    return [mutant["id"] for mutant in json.loads(plan)["mutants"]]


@pytest.mark.whole
def test_mutants_ask_for_nothing_that_the_original_was_answered(projects: Any, simulator: Any) -> None:
    result = measure(write(projects))
    assert {row.operator: row.status for row in result.mutants} == {
        "tool.result_truncated": Status.SURVIVED,
        "tool.result_slow": Status.SURVIVED,
    }
    store = Store(projects.folder / ".agentmut" / "store.db")
    seed = result.seed
    received = Counter(one.trial for one in simulator.requests)
    for row in result.mutants:
        trials = store.trials_of(result.run_id, row.id)
        asked = [received[trial_id(seed, row.id, one.scenario, one.repeat)] for one in trials]
        recalled = [sum(part.requests for part in one.execution.trace.recalled) for one in trials]
        live = 1 if row.operator == "tool.result_truncated" else 0  # late results change no request
        assert asked == [live] * row.trials
        assert recalled == [2 - live] * row.trials
        assert all(len(one.execution.footprint.exchanges) == 2 for one in trials)
    store.close()
    assert any("recorded runs of the original answered" in note for note in result.notes)


@pytest.mark.whole
def test_what_a_recorded_run_answered_is_not_paid_again(projects: Any, simulator: Any) -> None:
    result = measure(write(projects))
    truncated, slow = sorted(result.mutants, key=lambda row: row.operator, reverse=True)
    assert slow.usd == 0
    assert truncated.usd is not None
    assert truncated.usd > 0
    again = measure(projects.load())  # all from the store: nothing is asked, nothing is paid
    assert (again.cost.trials, again.cost.usd) == (0, 0)
    assert [row.status for row in again.mutants] == [row.status for row in result.mutants]


@pytest.mark.whole
def test_live_and_forked_trials_come_to_the_same_counts(projects: Any, simulator: Any) -> None:
    """What fails is decided by the last request here, which is live and of the same trial either way."""
    result = measure(write(projects, fork=False))
    assert {sum(part.requests for part in one.trace.recalled) for one in stored(projects)} == {0}
    assert not any("recorded runs" in note for note in result.notes)
    assert not list(projects.folder.glob(".agentmut/runs/*/cassettes/*"))
    asked = len(simulator.requests)

    forked = measure(write(projects), fresh=True)
    (live_one,), (forked_one,) = (
        [row.evidence for row in found.mutants if row.operator == "tool.result_truncated"]
        for found in (result, forked)
    )
    assert forked_one == live_one
    assert [row.status for row in forked.mutants] == [row.status for row in result.mutants]
    assert len(simulator.requests) - asked < asked


class Recorded:
    """Forks over a folder with cassettes of the original."""

    def __init__(self, plan: Any, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        self.forks = Forks(plan, folder)

    def original(self, repeat: int, asked: str = "{}", ending: str = "answered") -> None:
        launch = Launch("", "late", repeat, repeat)
        assert self.forks.request(launch, TrialRequest(None, "late", "x")).record
        takes = (Take(path="/v1/responses", asked=asked, status=200, given=str(repeat)),)
        name = trial_id(self.plan.seed, "", "late", repeat)
        cassette = Cassette(
            trial=name, scenario="late", repeat=repeat, seed=self.plan.seed, ending=ending, takes=takes
        )
        write_cassette(self.folder / self.plan.run_id, cassette)

    def taken(self, mutant: str, repeat: int) -> str:
        launch = Launch(mutant, "late", repeat, repeat)
        found = self.forks.request(launch, TrialRequest(None, "late", "x")).recorded
        return found[0].given if found else ""


class Planned:
    """What forks look at of a plan."""

    seed, run_id = 7, "r1"
    first: ClassVar[dict[str, int]] = {}
    first_of_mutants: ClassVar[dict[str, int]] = {}
    destroyed = SimpleNamespace(id="destroyed")
    identity: ClassVar[tuple[Any, ...]] = ()


@pytest.fixture
def runs(tmp_path: Path) -> Recorded:
    return Recorded(Planned(), tmp_path)


def test_each_recorded_run_serves_a_mutant_once_in_an_order_of_its_own(runs: Recorded) -> None:
    for repeat in range(2 * BLOCK):
        runs.original(repeat)
    one, other = ([runs.taken(mutant, k) for k in range(2 * BLOCK)] for mutant in ("a", "b"))
    assert sorted(one[:BLOCK], key=int) == [str(k) for k in range(BLOCK)]
    assert sorted(one[BLOCK:], key=int) == [str(k) for k in range(BLOCK, 2 * BLOCK)]
    assert one != other
    assert one == [runs.taken("a", k) for k in range(2 * BLOCK)]  # as a resumed run finds it
    assert runs.taken("a", 2 * BLOCK) == ""
    assert not runs.forks.problems.unrecorded


def test_a_scenario_whose_requests_name_what_the_service_keeps_is_refused(runs: Recorded) -> None:
    for repeat in range(BLOCK):
        runs.original(repeat, asked='{"previous_response_id": "resp_1"}')
    assert runs.taken("a", 0) == ""
    assert "previous_response_id" in runs.forks.problems.refused["late"]


def test_runs_without_evidence_and_controls_are_not_taken(runs: Recorded) -> None:
    for repeat in range(BLOCK):
        runs.original(repeat, ending="infrastructure")
    assert {runs.taken("a", k) for k in range(BLOCK)} == {""}
    assert runs.taken("destroyed", 0) == ""


def test_a_baseline_that_was_not_recorded_is_counted(runs: Recorded) -> None:
    for repeat in range(BLOCK):
        runs.forks.taken_over(Launch("", "late", repeat, repeat), "r0")
    assert runs.taken("a", 0) == ""
    assert runs.forks.problems.unrecorded == {"late": 1}
