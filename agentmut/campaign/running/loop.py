"""The loop that carries out a campaign or any other work: launch, run, store and record, until no trial is left."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from agentmut._base import EvaluatorError, RunError, described, gone_again
from agentmut.campaign.limits import budget_reached
from agentmut.campaign.preparation.identity import trial_id
from agentmut.campaign.running.judging import Judging
from agentmut.campaign.running.ports import UNGUARDED, Guard, Ports
from agentmut.campaign.running.spending import RunSpending
from agentmut.campaign.running.trial_keys import TrialKeys
from agentmut.campaign.running.turns import Turns
from agentmut.campaign.running.work import Stop, Work
from agentmut.campaign.trials import JudgedRun, Launch, TrialResult
from agentmut.nouns import Cassette, Ending, Execution
from agentmut.recording import OVER_BUDGET
from agentmut.store import StoredTrial
from agentmut.trial import TrialRequest, is_own_timeout

LEAVING = 1.5
"""Seconds after Ctrl-C for trials under way to be broken off."""


class FinishedTrial(NamedTuple):
    """A trial that has just ended."""

    launch: Launch
    key: str
    execution: Execution
    judged: JudgedRun | None = None
    """What its evaluators say."""
    problem: Exception | None = None
    """Why they say nothing."""


class ReusedTrial(NamedTuple):
    """A stored trial that has just been judged."""

    launch: Launch
    stored: StoredTrial
    judged: JudgedRun


TrialEnd = FinishedTrial | ReusedTrial | BaseException
"""What the loop is told of each trial: its result, or whatever ended it."""


class Loop:
    """Carries `work` out. Every finished trial is stored before the next decision."""

    def __init__(self, work: Work, ports: Ports, guard: Guard = UNGUARDED) -> None:
        self._work = work
        self._guard = guard
        self._ports = ports
        self._judging = Judging(ports.suite, ports.evaluator_seconds, apart=ports.evaluators_apart)
        self._run = work.plan.run_id
        self._mutants = {mutant.id: mutant for mutant in work.contenders}
        self._keys = TrialKeys(work)
        self._done: asyncio.Queue[TrialEnd] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns = Turns(ports.claims, work.plan.concurrency)
        self._taken_over: list[int] = []
        """Rows of other runs' trials that are to be noted with the next save."""
        # chosen when the budget was reached, or cut by it: nothing is run of them while it is
        self._withheld: list[tuple[Launch, str]] = []
        self._cut = False
        self._interrupted = False
        self._outage = ""
        self._woken = asyncio.Event()
        self._spending = RunSpending(work, ports)
        # what goes on takes its stored trials in, though its budget is spent; a search would ask on and on
        self._resumed = work.spend.trials > 0 and (work.plan.kind == "run" or gone_again() is not None)

    def interrupt(self) -> None:
        """End the run as soon as possible; what is finished is kept."""
        self._interrupted = True
        self._woken.set()
        for task in self._tasks:
            task.cancel()
        self._done.put_nowait(asyncio.CancelledError())  # wakes the loop, should no trial be under way

    async def run(self) -> Stop:
        """Run to the end and return why the run ended. Raise `StoreError`."""
        async with self._ports.executor.session():
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), self._guard.pause)
                return await self._loop()
            except RunError as error:  # no trial can be run, or none can be judged
                self._work.problem = str(error)
                return Stop.FAILED
            finally:
                await self._end()
                self._judging.close()
                # what is missing may be there the next time
                if self._work.unable or self._cut_short_unbegun():
                    self._ports.store.forget(self._run)
                    self._work.forgot = True

    async def _loop(self) -> Stop:
        while True:
            if not self._interrupted and self._suspects():
                return Stop.QUARANTINED
            stop = self._why_stop()
            if stop in (Stop.INTERRUPTED, Stop.FAILED):
                return stop
            if stop is None or (stop is Stop.BUDGET and self._resumed):
                await self._launch_what_fits()
            if not self._tasks and self._done.empty():
                at_end = stop is None and self._suspects(at_end=True)
                return Stop.QUARANTINED if at_end else self._why_stop() or Stop.FINISHED
            self._take_in(await self._done.get())

    def _suspects(self, *, at_end: bool = False) -> bool:
        """Return whether an outage has spoiled trials; set the spoiled trials aside."""
        suspicion = self._guard.suspicion(at_end)
        if suspicion:
            self._guard.set_aside([self._keys.of(launch) for launch in suspicion.launches], suspicion.reason)
            self._outage = suspicion.reason
        return suspicion is not None

    async def _end(self) -> None:
        """Cancel what is under way; what has finished meanwhile is kept, and set aside if that was amid an outage."""
        for task in self._tasks:
            if not task.cancelling():  # a second request would cut the time short that its agent has to end
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LEAVING if self._interrupted else None)
        finished = [item for item in self._drained() if isinstance(item, FinishedTrial)]
        self._keep(finished)
        if self._outage and finished:
            self._guard.set_aside([item.key for item in finished], self._outage)

    def _why_stop(self) -> Stop | None:
        if self._interrupted:
            return Stop.INTERRUPTED
        if self._work.problem:
            return Stop.FAILED
        unfinished = bool(self._withheld) or not self._work.decided
        return Stop.BUDGET if unfinished and self._budget_reached() else None

    def _cut_short_unbegun(self) -> bool:
        """Return whether the run ended too early to show that the agent can run."""
        return self._work.unbegun and self._why_stop() in (Stop.INTERRUPTED, Stop.BUDGET)

    def _budget_reached(self) -> str:
        work = self._work
        if self._cut:
            return OVER_BUDGET
        return budget_reached(work.plan.budget, work.spend, work.in_flight - len(self._withheld))

    async def _launch_what_fits(self) -> None:
        """Start trials up to the concurrency limit; take a trial from the store where it is there."""
        looked_up = 0
        while self._withheld and self._has_room() and not self._budget_reached():
            self._start(*self._withheld.pop(0))
        while self._has_room():
            spent = self._budget_reached()
            if spent and not self._resumed:
                return
            launch = self._work.launch()
            if launch is None:
                return
            key = self._keys.of(launch)
            stored = self._reusable(launch, key)
            if stored is None:
                if spent:  # what others have stored costs nothing, so the rest of them is still taken in
                    self._withheld.append((launch, key))
                else:
                    self._start(launch, key)
                continue
            if self._ports.suite.asks_models(launch.scenario):
                self._spawn(partial(self._judged_stored, launch, stored))
                continue
            self._reuse(launch, stored, await self._judging.judge(launch.scenario, stored.execution))
            looked_up += 1
            if looked_up % 256 == 0:
                self._keep([])
                self._ports.progress()
                await asyncio.sleep(0)
            if self._work.problem or self._interrupted:
                return

    def _has_room(self) -> bool:
        return self._turns.has_room(len(self._tasks))

    def _may_reuse(self, launch: Launch, stored: StoredTrial) -> bool:
        if not self._ports.suite.can_judge(launch.scenario, stored.execution):
            return False
        if stored.execution.trace.texts and not self._ports.suite.texts.is_hidden:
            return False  # its requests cannot be read, so nobody could tell whether a mutation arrived
        plan = self._work.plan
        recent = plan.max_age is None or stored.finished >= plan.started - plan.max_age
        if stored.run == self._run:
            return True
        return recent and not plan.fresh and self._is_own(launch.scenario, stored)

    def _is_own(self, scenario: str, stored: StoredTrial) -> bool:
        """Return whether a stored timeout is the agent's failure, as known now; other trials keep their outcome."""
        pace = self._ports.pace
        return pace is None or is_own_timeout(stored.execution, pace.usual(scenario))

    def _start(self, launch: Launch, key: str) -> None:
        self._spawn(partial(self._executed_once, launch, key))

    def _spawn(self, trial: Callable[[], Awaitable[TrialEnd]]) -> None:
        self._tasks.add(asyncio.create_task(self._awaited(trial)))

    async def _awaited(self, trial: Callable[[], Awaitable[TrialEnd]]) -> None:
        """Await a trial, and pass its end to the loop, which waits for it, whatever it is."""
        try:
            ended = await trial()
        except BaseException as error:
            ended = error
        self._tasks.discard(_this_task())  # before the result shows, so that the two never disagree
        self._done.put_nowait(ended)

    async def _executed_once(self, launch: Launch, key: str) -> FinishedTrial | ReusedTrial:
        """Execute a trial, unless another run executes it or has just done so: take that run's trial then."""
        stored = await self._turns.take_turn(key, lambda: self._reusable(launch, key))
        return await (self._executed(launch, key) if stored is None else self._judged_stored(launch, stored))

    def _reusable(self, launch: Launch, key: str) -> StoredTrial | None:
        stored = self._ports.store.find(key, self._run)
        return stored if stored is not None and self._may_reuse(launch, stored) else None

    async def _executed(self, launch: Launch, key: str) -> FinishedTrial:
        identity = trial_id(self._work.plan.seed, *launch[:3])
        mutant = self._mutants.get(launch.mutant)
        request = TrialRequest(mutant, launch.scenario, identity, repeat=launch.repeat)
        if self._ports.forks:
            request = self._ports.forks.request(launch, request)
        execution = await self._ports.executor.execute(request)
        return await self._judged(launch, key, execution)

    async def _judged(self, launch: Launch, key: str, execution: Execution) -> FinishedTrial:
        """Return a run in its storable form with its checks; a run that no evaluator can judge is stored too."""
        suite, redactor = self._ports.suite, self._ports.redactor
        try:
            judged = await self._judging.judge(launch.scenario, execution)
        except Exception as error:
            clean = redactor.execution(execution)
            if suite.texts.is_hidden:  # the error may quote the run
                bare = (
                    error.bare if isinstance(error, EvaluatorError) else suite.texts.error(described(error))
                )
                raise RunError(bare) from None
            if clean.trace != execution.trace:  # nobody could judge it later
                raise
            return FinishedTrial(launch, key, clean, problem=error)
        detector = self._work.detectors.get(launch.mutant)
        ran_with = detector.mutated if detector else None
        kept = suite.storable(launch.scenario, execution, redactor, judged, ran_with, self._work.spend.kept)
        if kept.ending.outcome is not None or kept.trace.judged:
            judged = suite.judged(launch.scenario, kept)  # as it may be told: secrets are masked
        return FinishedTrial(launch, key, kept, judged)

    async def _judged_stored(self, launch: Launch, stored: StoredTrial) -> ReusedTrial:
        return ReusedTrial(launch, stored, await self._judging.judge(launch.scenario, stored.execution))

    def _drained(self) -> list[TrialEnd]:
        return [self._done.get_nowait() for _ in range(self._done.qsize())]

    def _take_in(self, first: TrialEnd) -> None:
        """Store the finished trials in one transaction, and only then record them."""
        batch = [first, *self._drained()]
        finished = [item for item in batch if isinstance(item, FinishedTrial)]
        self._keep(finished)
        for item in finished:
            if item.problem:
                raise item.problem
            if item.execution.ending is Ending.CUT:
                self._cut = True
                self._withheld.append((item.launch, item.key))
                continue
            result = self._result(item.launch, item.execution, item.judged)
            self._work.record(item.launch, result._replace(finished=self._ports.now()))
        for again in batch:
            if isinstance(again, ReusedTrial):
                self._reuse(*again)
        for failed in batch:
            if isinstance(failed, (Exception, KeyboardInterrupt)):
                raise failed
            if isinstance(failed, BaseException) and not self._interrupted:
                raise RunError(f"a trial was ended by {described(failed)}. Finished trials are kept")
        self._ports.progress()

    def _keep(self, finished: list[FinishedTrial]) -> None:
        now = self._ports.now()
        rows = [StoredTrial(i.key, *i.launch[:3], i.execution, now, self._run) for i in finished]
        self._spending.add((item.launch, item.execution) for item in finished)
        seconds, spend = self._spending.seconds_to_note(), self._work.spend
        self._ports.store.save(self._run, rows, self._taken_over, seconds, spend.all_judges_usd, spend.hooks)
        self._taken_over.clear()
        self._turns.release(item.key for item in finished)
        for item in finished:
            self._keep_cassette(item)

    def _keep_cassette(self, finished: FinishedTrial) -> None:
        execution, launch, seed = finished.execution, finished.launch, self._work.plan.seed
        if not execution.takes:
            return
        self._ports.keep_cassette(
            Cassette(
                trial=trial_id(seed, *launch[:3]),
                scenario=launch.scenario,
                repeat=launch.repeat,
                seed=seed,
                mutant=self._mutants.get(launch.mutant),
                ending=execution.ending.value,
                takes=execution.takes,
            )
        )

    def _reuse(self, launch: Launch, stored: StoredTrial, judged: JudgedRun | None = None) -> None:
        """Record a stored trial."""
        if self._ports.forks:
            self._ports.forks.taken_over(launch, stored.run)
        if stored.run != self._run:
            self._taken_over.append(stored.id)
        self._spending.add_stored(launch, stored, self._ports.now() - stored.finished)
        result = self._result(launch, stored.execution, judged)
        self._work.record(launch, result._replace(stored=True, finished=stored.finished))

    def _result(self, launch: Launch, execution: Execution, judged: JudgedRun | None) -> TrialResult:
        detector = self._work.detectors.get(launch.mutant)
        return self._ports.suite.result(launch.scenario, execution, detector, judged)


def _this_task() -> "asyncio.Task[None]":
    task = asyncio.current_task()
    assert task is not None
    return task
