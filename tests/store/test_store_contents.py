"""What the store keeps, finds, counts and forgets."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.store.address import Where
from agentmut.store.rows import Spent, StoredRun, StoredTrial
from agentmut.store.store import Store

PRINT = Footprint(requests=(RequestShape(text="You are helpful.", model="m"),))


def trial(
    key: str,
    answer: str = "yes",
    mutant: str = "",
    ending: Ending = Ending.ANSWERED,
    usd: float | None = 0.25,
) -> StoredTrial:
    usage = Usage(input_tokens=3, output_tokens=4)
    call = Step(action=Action.REASON, model="m", usage=usage, usd=usd, output={"text": answer})
    trace = AgentTrace(steps=(call,), outputs=(answer,), seconds=0.5)
    execution = Execution(ending=ending, reason="r", trace=trace, footprint=PRINT, attempts=2)
    return StoredTrial(key, mutant, "late refund", 0, execution, 12.5)


def a_run(name: str, started: float = 1.0) -> StoredRun:
    return StoredRun(name, started, "{}", "planned")


@pytest.fixture
def store(where: Where) -> Iterator[Store]:
    store = Store(where)
    for number, name in enumerate(("a", "b", "c")):
        store.add_run(a_run(name, number))
    yield store
    store.close()


def test_a_trial_comes_back_as_it_was_also_after_reopening(store: Store, where: Where) -> None:
    store.save("a", [trial("k1")])
    for reader in (store, Store(where)):
        found = reader.find("k1")
        assert found is not None
        assert (found.execution, found.run, found.mutant, found.finished) == (
            trial("k1").execution,
            "a",
            "",
            12.5,
        )
    assert store.find("k2") is None


def raised(key: str, *, began: bool) -> StoredTrial:
    whole = trial(key, ending=Ending.RAISED)
    if began:
        return whole
    silent = {"trace": AgentTrace(), "footprint": Footprint()}
    return whole._replace(execution=whole.execution.model_copy(update=silent))


def test_what_never_began_is_forgotten_and_of_other_runs_only_where_none_of_theirs_ran(store: Store) -> None:
    store.save("a", [trial("ran"), raised("early", began=False)])
    store.save("b", [raised("own", began=False), raised("late", began=True)])
    earlier, ran = store.find("early"), store.find("ran")
    assert earlier and ran
    store.save("b", [], [earlier.id, ran.id])
    store.forget("b")
    assert [key for key in ("ran", "early", "own", "late") if store.find(key)] == ["ran", "early", "late"]
    store.save("c", [], [earlier.id])
    store.forget("c")
    assert store.find("early") is None
    assert len(store.trials_of("b", "")) == 4


def test_two_runs_that_execute_the_same_trial_keep_one_each(store: Store) -> None:
    store.save("a", [trial("k", "first")])
    store.save("b", [trial("k", "second")])
    answers = {run: store.find("k", run) for run in ("a", "b", "c")}
    assert {run: t.execution.trace.output for run, t in answers.items() if t} == {
        "a": "first",
        "b": "second",
        "c": "second",  # the latest, for a run that has none of its own
    }
    assert [t.execution.trace.output for t in store.trials_of("a", "")] == ["first"]


def test_trials_that_are_no_evidence_are_kept_and_not_found(store: Store) -> None:
    for ending in (Ending.INFRASTRUCTURE, Ending.REFUSED, Ending.UNBUILDABLE, Ending.EMPTY_RUN):
        store.save("a", [trial("k", ending=ending)])
    assert store.find("k", "a") is None
    assert store.counts("a") == (4, 0)
    store.save("a", [trial("k", ending=Ending.TIMEOUT)])
    store.save("a", [trial("k", ending=Ending.INFRASTRUCTURE)])
    found = store.find("k", "a")
    assert found is not None and found.execution.ending is Ending.TIMEOUT


def test_what_a_run_took_over_is_counted_apart_and_listed_with_its_own(store: Store) -> None:
    store.save("a", [trial("k1"), trial("k2", mutant="m")])
    found = store.find("k1", "b")
    assert found is not None
    store.save("b", [trial("k3")], [found.id])
    assert (store.counts("a"), store.counts("b")) == ((2, 0), (1, 1))
    assert [t.key for t in store.trials_of("b", "")] == ["k1", "k3"]
    assert [t.key for t in store.trials_of("a", "m")] == ["k2"]


def test_a_trial_that_a_run_executed_and_took_over_is_listed_once(store: Store) -> None:
    store.save("a", [trial("k1", mutant="m"), trial("k2")])
    (own,) = store.trials_of("a", "m")
    store.save("a", [], [own.id])
    assert [t.key for t in store.trials_of("a", "m")] == ["k1"]
    assert sorted(row["key"] for row in store.rows_of("a")) == ["k1", "k2"]


def test_of_each_scenario_only_the_last_trials_are_read_where_so_many_are_asked_for(store: Store) -> None:
    some = [trial(f"{name}{at}")._replace(scenario=name, repeat=at) for at in range(5) for name in ("x", "y")]
    store.save("a", [*some, trial("x9")._replace(scenario="x", repeat=9)])
    found = store.find("y0", "b")
    assert found is not None
    store.save("b", [trial("own")._replace(scenario="y", repeat=7)], [found.id])
    assert [t.key for t in store.trials_of("a", "", 2)] == ["x4", "x9", "y3", "y4"]
    assert [t.key for t in store.trials_of("b", "", 1)] == ["own"]
    assert len(store.trials_of("a", "", 100)) == 11


def test_what_a_run_has_spent_counts_its_own_trials_only(store: Store) -> None:
    store.save("a", [trial("k1"), trial("k2", mutant="m"), trial("k3", usd=None)], seconds=7.5)
    store.save("b", [trial("k4")], seconds=1.0)
    spent = store.spent("a")
    assert spent._replace(kept=0) == Spent(3, 2, 21, 0.5, 1, 0, 7.5)
    assert spent.kept > 0
    assert store.spent("c") == Spent()


def test_runs_are_listed_latest_first_with_how_far_they_came(store: Store) -> None:
    store.set_status("b", "finished", 3.5)
    store.set_plan("c", '{"fresh": true}')
    assert [(run.id, run.status) for run in store.runs()] == [
        ("c", "planned"),
        ("b", "finished"),
        ("a", "planned"),
    ]
    assert (store.runs()[0].plan, store.runs()[1].seconds) == ('{"fresh": true}', 3.5)


def test_clean_keeps_what_a_kept_run_executed_or_took_over(store: Store, where: Where) -> None:
    store.save("a", [trial("shared"), trial("only a", "x" * 100_000)])
    shared = store.find("shared")
    assert shared is not None
    store.save("b", [trial("only b")], [shared.id])
    assert store.clean(keep=["b", "c"]) == 1
    assert [run.id for run in store.runs()] == ["c", "b"]
    assert store.find("shared") and store.find("only b") and not store.find("only a")
    assert store.clean(keep=[]) == 2
    store.save("c", [trial("new")])  # footprints that went are written again
    assert store.find("new") is not None


def test_clean_gives_the_space_back(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = Store(path)
    for name in "ac":
        store.add_run(a_run(name))
    store.save("a", [trial(f"k{i}", "x" * 10_000) for i in range(300)])
    store.clean(keep=["c"])
    store.close()
    assert path.stat().st_size < 120_000


def test_saving_nothing_writes_nothing(store: Store) -> None:
    store.save("a", [])
    assert store.counts("a") == (0, 0)


def test_any_text_an_agent_may_answer_can_be_kept(store: Store) -> None:
    strange = trial("k", "half a \ud800 pair \x00 end")
    strange = strange._replace(execution=strange.execution.model_copy(update={"reason": "\udfff"}))
    store.save("a", [strange])
    found = store.find("k")
    assert found is not None
    assert found.execution.trace.output == "half a ? pair \x00 end"


def test_what_save_returned_from_is_seen_by_another_process_at_once(store: Store, where: Where) -> None:
    other = Store(where)
    store.save("a", [trial("k")])
    assert other.find("k") is not None
    other.save("b", [trial("k2")])
    assert store.find("k2") is not None
    other.close()


@pytest.mark.process
def test_many_processes_may_open_a_new_store_at_the_same_time(where: Where) -> None:
    program = "import sys; from pathlib import *; from agentmut.store import *; Store(eval(sys.argv[1]))"
    racers = [subprocess.Popen([sys.executable, "-c", program, repr(where)]) for _ in range(4)]
    assert [racer.wait() for racer in racers] == [0, 0, 0, 0]


def test_the_first_evidence_of_a_mutant_is_as_many_trials_as_asked_for_the_last_of_each_repeat(
    store: Store,
) -> None:
    def at(repeat: int, scenario: str, ending: Ending = Ending.ANSWERED, mutant: str = "m") -> StoredTrial:
        made = trial(f"{scenario}{repeat}{ending}{mutant}", f"{scenario} {repeat}", mutant, ending)
        return made._replace(scenario=scenario, repeat=repeat)

    spoiled = at(1, "one", Ending.INFRASTRUCTURE)
    store.save("a", [at(2, "one"), spoiled, at(1, "one"), at(0, "one", Ending.INFRASTRUCTURE), at(3, "one")])
    store.save(
        "a", [at(0, "two"), at(0, "three"), at(0, "one", mutant=""), at(1, "two", Ending.INFRASTRUCTURE)]
    )
    store.save("b", [at(0, "one")])
    found = store.first_evidence("a", "m", {"one": 2, "two": 5, "four": 5})
    kept = {name: [(t.repeat, t.execution.ending) for t in trials] for name, trials in found.items()}
    answered = Ending.ANSWERED
    assert kept == {"one": [(1, answered), (2, answered)], "two": [(0, answered)]}
    assert found["one"][0].execution.trace.text == "one 1"
