"""Budgets of a campaign over several actors. The actors are objects of this process, so Ray itself is not needed."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from agentmut.trial import ray_cluster
from agentmut.trial.ray_actor import TrialActor
from agentmut.usecases.campaigns import measure

from .test_budgets import PRICED, PRICES

pytestmark = pytest.mark.whole
EXECUTION = {"engine": "ray", "concurrency": 12, "trials_per_actor": 4, "cpus": 0.1}


class LostError(Exception):
    """Stands for Ray's error where an actor died."""


class Cluster:
    """What the executor asks of `ray`. An actor dies when trials are sent to it `dies_at` times."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.actors: list[Handle] = []
        self.options: list[dict[str, Any]] = []
        self.exceptions = SimpleNamespace(
            RayTaskError=type("RayTaskError", (Exception,), {}), RayError=LostError
        )
        self._dies_at = dies_at

    def is_initialized(self) -> bool:
        return True

    def kill(self, handle: "Handle") -> None:
        handle.dead.set()

    def remote(self, kind: Callable[..., TrialActor]) -> Any:
        def started(*given: Any) -> Handle:
            first = not self.actors
            self.actors.append(Handle(kind(*given), self._dies_at if first else None))
            return self.actors[-1]

        def with_options(**options: Any) -> Any:
            self.options.append(options)
            return SimpleNamespace(remote=started)

        return SimpleNamespace(options=with_options)


class Handle:
    """What Ray hands out for an actor."""

    def __init__(self, actor: TrialActor, dies_at: int | None) -> None:
        self.dead = asyncio.Event()
        self.trials = 0
        self._actor = actor
        self._dies_at = dies_at

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *given: asyncio.ensure_future(self._called(name, given)))

    async def _called(self, name: str, given: tuple[Any, ...]) -> Any:
        if name == "begin":
            self.trials += len(given[0])
            if self._dies_at is not None and self.trials >= self._dies_at:
                self.dead.set()
        call = asyncio.ensure_future(getattr(self._actor, name)(*given))
        death = asyncio.ensure_future(self.dead.wait())
        await asyncio.wait({call, death}, return_when=asyncio.FIRST_COMPLETED)
        death.cancel()
        if self.dead.is_set():
            call.cancel()
            raise LostError("the actor died")
        return call.result()


@pytest.fixture
def on_cluster(projects: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Cluster, Any]]:
    def measured(
        dies_at: int | None = None, execution: dict[str, Any] = EXECUTION, **written: Any
    ) -> tuple[Cluster, Any]:
        cluster = Cluster(dies_at)
        monkeypatch.setattr(ray_cluster, "_ray", lambda: cluster)
        project = projects.write(execution=execution, **written)
        monkeypatch.chdir(projects.folder)
        return cluster, measure(project)

    return measured


def test_a_budget_of_trials_holds_for_all_actors_together(on_cluster: Any) -> None:
    cluster, result = on_cluster(budget={"trials": 150})
    assert (result.status, result.cost.trials) == ("budget", 150)
    assert len(cluster.actors) == 3
    assert all(actor.trials for actor in cluster.actors)
    assert sum(actor.trials for actor in cluster.actors) == 150


def test_a_budget_in_money_holds_for_all_actors_together(on_cluster: Any) -> None:
    cluster, result = on_cluster(extra=PRICED, budget={"usd": 0.7, "prices": PRICES})
    assert result.status == "budget"
    assert len(cluster.actors) == 3
    assert result.cost.usd == pytest.approx(0.005 * result.cost.trials)
    assert 0.6 <= (result.cost.usd or 0.0) <= 0.7


def test_trials_of_an_actor_that_dies_are_counted_once_under_the_budget(on_cluster: Any) -> None:
    cluster, result = on_cluster(dies_at=9, budget={"trials": 150})
    assert (result.status, result.cost.trials) == ("budget", 150)
    assert len(cluster.actors) == 4  # another one for the actor that died
    assert 150 < sum(actor.trials for actor in cluster.actors) <= 150 + 4


def test_actors_that_demand_nothing_take_turns_on_the_nodes(
    on_cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray puts an actor without any demand on a random node, so each of them demands a byte."""
    monkeypatch.setattr(ray_cluster, "_node_in_turn", lambda ray, turn: f"node {turn}")
    undemanding = {key: value for key, value in EXECUTION.items() if key != "cpus"}
    cluster, _ = on_cluster(execution=undemanding, budget={"trials": 130})
    assert [options["scheduling_strategy"] for options in cluster.options] == ["node 0", "node 1", "node 2"]
    assert {options["memory"] for options in cluster.options} == {1}
