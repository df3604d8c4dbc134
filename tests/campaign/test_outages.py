"""Outages of a service during whole campaigns: what they spoil is set aside and run again, and changes no decision."""

import asyncio
import sys
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.campaign.decision import quarantine
from agentmut.campaign.running.loop import FinishedTrial, Loop
from agentmut.campaign.running.ports import Guard
from agentmut.campaign.trials import JudgedRun, Launch, Suite
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Outcome
from agentmut.store.store import Store
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

OUTAGE = """
calls = 0
inner = run
async def run(config, input):
    global calls
    calls += 1
    if FIRST <= calls < LAST:
        BROKEN()
    return await inner(config, input)

def lost():
    raise ConnectionError("connection reset")

class RefusedError(Exception):
    status_code = 401
    response = None

def refused():
    raise RefusedError("who are you?")
"""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)


def broken(kind: str, first: int, last: int) -> str:
    return f"{OUTAGE}\nBROKEN = {kind}\nFIRST, LAST = {first}, {last}\n"


@pytest.mark.parametrize("kind", ["lost", "refused"])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_an_outage_spoils_is_run_again_and_changes_no_decision(
    make_projects: Any, told: Any, kind: str, concurrency: int
) -> None:
    execution = {"retries": 0, "concurrency": concurrency}
    clean = measure(make_projects("clean").write(execution=execution))
    projects = make_projects("amid")
    amid = measure(projects.write(extra=broken(kind, 150, 166), execution=execution))
    assert told(amid) == told(clean)
    assert clean.quarantined == ()
    assert sum(found.trials for found in amid.quarantined) >= 5
    assert any("were set aside and run again" in note for note in amid.notes)
    store = Store(projects.folder / ".agentmut" / "store.db")
    aside = store.quarantine.reasons()
    kept = {trial.id for row in amid.mutants for trial in store.trials_of(amid.run_id, row.id)}
    store.close()
    assert len(aside) == sum(found.trials for found in amid.quarantined)
    assert not kept & aside.keys()


def test_a_baseline_that_met_an_outage_gets_its_trials(make_projects: Any, told: Any) -> None:
    execution = {"retries": 0, "concurrency": 1}
    clean = measure(make_projects("clean").write(("alpha",), execution=execution))
    amid = measure(make_projects("amid").write(("alpha",), extra=broken("lost", 20, 38), execution=execution))
    assert [row.trials for row in amid.baseline] == [40]
    assert told(amid) == told(clean)
    assert [found.trials for found in amid.quarantined] == [18]


def test_failures_of_all_agents_at_once_are_set_aside(make_projects: Any) -> None:
    """An empty completion, say: nothing on the wire shows trouble, but the original fails as well."""
    wrong = "\ndef wrong():\n    raise ValueError('the answer is empty')\n"
    execution = {"retries": 0, "concurrency": 1}
    clean = measure(make_projects("clean").write(execution=execution))
    amid = measure(make_projects("amid").write(extra=wrong + broken("wrong", 70, 94), execution=execution))
    assert [found.reason for found in amid.quarantined] == [quarantine.FAILURES]
    assert {row.id: row.status for row in amid.mutants} == {row.id: row.status for row in clean.mutants}
    lost = [one.passes - other.passes for one, other in zip(clean.baseline, amid.baseline, strict=True)]
    assert max(lost) <= 3  # of 8 that the burst took from each


def test_an_outage_that_does_not_end_is_told_and_what_is_finished_is_kept(
    projects: Any, told: Any, make_projects: Any
) -> None:
    execution = {"retries": 0, "concurrency": 1}
    clean = measure(make_projects("clean").write(execution=execution))
    with pytest.raises(RunError, match=r"\d+ trials ended in infrastructure trouble"):
        measure(
            projects.write(
                extra=broken("lost", 150, 10**9), execution=execution, agent_section={"version": "1"}
            )
        )
    projects.write(execution=execution, agent_section={"version": "1"})
    sys.modules.pop(projects.module, None)
    healed = measure(projects.load())
    assert told(healed) == told(clean)
    assert healed.cost.reused == 149


def test_what_ends_while_an_outage_is_told_is_set_aside_with_it() -> None:
    aside: list[tuple[list[str], str]] = []
    guard = Guard(lambda at_end: None, lambda keys, reason: aside.append((list(keys), reason)))

    async def ended(outage: str) -> None:
        loop = Loop.__new__(Loop)
        loop._tasks, loop._done, loop._interrupted = set(), asyncio.Queue(), False
        loop._guard, loop._outage, loop._keep = guard, outage, lambda finished: None  # type: ignore[method-assign]
        loop._done.put_nowait(FinishedTrial(launch("m", 3), "key", Execution(ending=Ending.REFUSED)))
        await loop._end()

    asyncio.run(ended("refused"))
    asyncio.run(ended(""))
    assert aside == [(["key"], "refused")]


def launch(mutant: str, number: int) -> Launch:
    return Launch(mutant, "s", number, number)


def result(ending: Ending, outcome: Outcome) -> Any:
    detector = None
    execution = Execution(ending=ending)
    judged = JudgedRun(outcome)
    return Suite({}, {}).result("s", execution, detector, judged)


ANSWERED = result(Ending.ANSWERED, Outcome.PASS)
REFUSED = result(Ending.REFUSED, Outcome.PRE_VALIDATION)


def test_mutants_that_are_refused_from_their_first_trial_on_are_no_outage() -> None:
    watch = quarantine.Watch(lambda: True)
    for number in range(20):
        watch.record(launch("", number), ANSWERED)
        watch.record(launch(f"unknown model {number}", 0), REFUSED)
    assert watch.found is None and watch.at_end() is None


def test_agents_that_were_answered_before_and_are_refused_together_are() -> None:
    watch = quarantine.Watch(lambda: True)
    for number, mutant in enumerate(["a", "b", "a", "b"]):
        watch.record(launch(mutant, number), ANSWERED)
    watch.record(launch("a", 4), REFUSED)
    assert watch.found is None  # one alone may have asked for too much
    watch.record(launch("b", 4), REFUSED)
    assert watch.found == quarantine.Suspicion((launch("a", 4), launch("b", 4)), quarantine.REFUSALS)
