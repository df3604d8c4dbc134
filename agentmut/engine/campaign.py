"""The loop that carries a campaign out: launch, run, keep, record, until there is nothing left to do."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from agentmut.engine.executor import Executor, TrialRequest
from agentmut.engine.identity import trial_id, trial_key
from agentmut.engine.state import DEAD_ENDPOINT, CampaignState, Stop, baseline_problem, budget_reached
from agentmut.engine.trials import Launch, Suite
from agentmut.execution import Execution
from agentmut.mutant import Mutant
from agentmut.store.sqlite import Store, StoredTrial

Clock = Callable[[], float]
Progress = Callable[[CampaignState], None]


class Tools(NamedTuple):
    """What the loop works with: everything that touches the world."""

    executor: Executor
    store: Store
    suite: Suite
    now: Clock
    """Seconds since the epoch."""
    progress: Progress
    fresh: bool = False
    """Run every trial again, whatever the store holds."""


class Finished(NamedTuple):
    """A trial that has just ended."""

    launch: Launch
    key: str
    execution: Execution


class Campaign:
    """Carries out the plan of `state`. Every finished trial is stored before the next decision."""

    def __init__(self, state: CampaignState, tools: Tools) -> None:
        self._state = state
        self._tools = tools
        self._mutants = {mutant.id: mutant for mutant in state.contenders}
        self._config_digests: dict[tuple[str, str], str] = {}
        self._done: asyncio.Queue[Finished | BaseException] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._own = tools.store.executed_keys(state.plan.run_id)
        self._begun = tools.now()
        self._interrupted = asyncio.Event()

    def interrupt(self) -> None:
        """End the run as soon as possible; what is finished is kept."""
        self._interrupted.set()
        for task in self._tasks:
            task.cancel()

    async def run(self) -> Stop:
        """Run to the end; returns why it ended. Raises `StoreError` and `RunError`."""
        async with self._tools.executor.session():
            try:
                return await self._loop()
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _loop(self) -> Stop:
        while True:
            stop = self._why_stop()
            if stop in (Stop.INTERRUPTED, Stop.FAILED):
                self._take_in([])  # what has finished meanwhile is kept
                return stop
            if stop is None:
                await self._launch_what_fits()
            if not self._tasks and self._done.empty():
                return self._why_stop() or Stop.FINISHED
            self._take_in([await self._done.get()])

    def _why_stop(self) -> Stop | None:
        state = self._state
        if self._interrupted.is_set():
            return Stop.INTERRUPTED
        state.problem = state.problem or baseline_problem(state) or self._dead_endpoint()
        if state.problem:
            return Stop.FAILED
        return Stop.BUDGET if budget_reached(state) and not self._all_decided() else None

    def _all_decided(self) -> bool:
        state = self._state
        return state.baseline_complete and all(state.status(mutant) for mutant in self._mutants)

    def _dead_endpoint(self) -> str:
        if self._state.trouble < DEAD_ENDPOINT:
            return ""
        return (
            f"the last {self._state.trouble} trials ended in infrastructure trouble ({self._last_trouble}). Check "
            "the model endpoint and the network, then `agentmut resume`: finished trials are kept."
        )

    async def _launch_what_fits(self) -> None:
        """Start trials up to the concurrency limit; those found in the store are taken from there."""
        looked_up = 0
        while len(self._tasks) < self._state.plan.concurrency and not budget_reached(self._state):
            launch = self._state.launch()
            if launch is None:
                return
            key = self._key(launch)
            stored = None if self._tools.fresh and key not in self._own else self._tools.store.find(key)
            if stored is None or not stored.execution.ending.is_final:
                self._start(launch, key)
                continue
            self._reuse(launch, stored)
            looked_up += 1
            if looked_up % 256 == 0:
                self._tools.progress(self._state)
                await asyncio.sleep(0)
            if self._state.problem or self._interrupted.is_set():
                return

    def _start(self, launch: Launch, key: str) -> None:
        task = asyncio.create_task(self._execute(launch, key))
        self._tasks.add(task)

    async def _execute(self, launch: Launch, key: str) -> None:
        plan = self._state.plan
        identity = trial_id(plan.seed, launch.mutant, launch.scenario, launch.repeat)
        request = TrialRequest(self._mutants.get(launch.mutant), launch.scenario, identity)
        ended: Finished | BaseException
        try:
            ended = Finished(launch, key, await self._tools.executor.execute(request))
        except (asyncio.CancelledError, Exception) as error:
            ended = error
        self._tasks.discard(_this_task())  # before the result shows, so that the two never disagree
        self._done.put_nowait(ended)

    def _take_in(self, batch: list[Finished | BaseException]) -> None:
        while not self._done.empty():
            batch.append(self._done.get_nowait())
        finished = [item for item in batch if isinstance(item, Finished)]
        self._tools.store.save(self._state.plan.run_id, [self._stored(item) for item in finished])
        for item in finished:
            self._record(item.launch, item.execution, reused=False)
        for item in batch:
            if isinstance(item, Exception):
                raise item
        self._tools.progress(self._state)

    def _reuse(self, launch: Launch, stored: StoredTrial) -> None:
        own = stored.key in self._own
        if not own:
            self._tools.store.save(self._state.plan.run_id, [], [stored.key])
        self._record(launch, stored.execution, reused=not own)

    def _record(self, launch: Launch, execution: Execution, *, reused: bool) -> None:
        state = self._state
        detector = state.detectors.get(launch.mutant)
        result = self._tools.suite.result(launch.scenario, execution, detector)
        spend = state.spend
        if reused:
            state.spend = replace(spend, reused=spend.reused + 1, seconds=self._elapsed())
        else:
            state.spend = replace(
                spend,
                trials=spend.trials + 1,
                usd=spend.usd + (result.usd or 0.0),
                unpriced=spend.unpriced + (result.usd is None),
                tokens=spend.tokens + result.tokens,
                abandoned=spend.abandoned + result.abandoned,
                seconds=self._elapsed(),
            )
        if result.outcome == "infrastructure":
            self._last_trouble = result.reason
        state.record(launch, result)

    _last_trouble = ""

    def _elapsed(self) -> float:
        return self._tools.now() - self._begun

    def _stored(self, item: Finished) -> StoredTrial:
        launch = item.launch
        return StoredTrial(
            item.key, launch.mutant, launch.scenario, launch.repeat, item.execution, self._tools.now()
        )

    def _key(self, launch: Launch) -> str:
        plan, scenario = self._state.plan, self._state.scenarios[launch.scenario]
        return trial_key(
            plan.environment,
            self._config_digest(launch),
            launch.mutant,
            scenario.digest,
            launch.repeat,
            plan.seed,
        )

    def _config_digest(self, launch: Launch) -> str:
        where = (launch.mutant, launch.scenario)
        if where not in self._config_digests:
            suite = self._state.suite
            mutant: Mutant | None = self._mutants.get(launch.mutant)
            config = mutant.apply(suite.full) if mutant else suite.full
            self._config_digests[where] = suite.part(config, launch.scenario).digest
        return self._config_digests[where]


def _this_task() -> "asyncio.Task[None]":
    task = asyncio.current_task()
    assert task is not None
    return task
