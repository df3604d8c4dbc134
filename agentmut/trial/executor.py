"""Executes trials in this process: the agents of mutants, attempts, retries and prices."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from agentmut._base import AgentmutError
from agentmut.nouns import AgentTrace, Ending, Execution, Fork, Mutant, Player, Take
from agentmut.recording import Purse, Trial, TrialThreads
from agentmut.seams import Adapter, KeepsOpen, RunsOutside, run_plugin
from agentmut.trial.containment import contained
from agentmut.trial.on_wire import OnWire, as_mutant, inside
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case, Wiring, attempt
from agentmut.trial.suite_config import SuiteConfig
from agentmut.wire import BotocoreHooks, Gateway, PerMinute, Tap, Throttle, all_codecs

KEPT_AGENTS = 256
LONGEST_PAUSE = 30.0
"""Seconds between two attempts at most."""


class TrialRequest(NamedTuple):
    """The trial to run; `id` identifies the trial and is a function of everything that shapes it."""

    mutant: Mutant | None
    scenario: str
    id: str
    player: Player | None = None
    """Answers its model requests, where it is a replay."""
    repeat: int = 0
    """Which run of the scenario it is."""
    recorded: tuple[Take, ...] = ()
    """The recorded run of the original that it goes along, for as long as it asks the same; empty where it is live."""
    record: bool = False
    """Whether what its agent asks and is given is kept, whatever the settings."""


class RunSettings(NamedTuple):
    """The settings of a trial's run: `timeout` in seconds."""

    timeout: float = 60.0
    seed: int = 0
    requests_per_minute: PerMinute | None = None
    record: bool = False
    """Whether what the agent asks of models, and is given, is kept."""
    proxy_port: int | None = None
    """Where agents that are already running reach the proxy."""
    intercept: tuple[str, ...] | None = None
    """Hosts beside the known services whose TLS connections end here; None: no connection is intercepted."""
    redact: Callable[[str], str] = str
    """Takes secrets out of texts that have to be cut before they are kept."""


class Executor(Protocol):
    """Runs trials."""

    def session(self) -> AbstractAsyncContextManager[None]:
        """Return an async context in which `execute` may be called."""

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial. Raises only on cancellation, or `RunError` when no trial can be run at all."""


def _ignore(trial: Trial, timeout: float = 0.0) -> None:
    """Ignore the beginning of a trial, or of its setup."""


@dataclass(eq=False)
class LocalExecutor:
    """Runs trials as tasks of the current event loop."""

    _adapter: Adapter
    _suite: SuiteConfig
    _cases: Mapping[str, Case]
    _pricer: Pricer
    _settings: RunSettings
    _agents: dict[tuple[str, str], Adapter] = field(default_factory=dict, init=False)
    _gateway: Gateway | None = field(default=None, init=False)
    _tap: Tap = field(default_factory=lambda: Tap(()), init=False)
    prepared: Callable[[Trial], None] = field(default_factory=lambda: _ignore, init=False)
    """Told of the record of each trial's hooks, before its setup runs."""
    begun: Callable[[Trial, float], None] = field(default_factory=lambda: _ignore, init=False)
    """Told of each trial, and of its timeout in seconds, before its agent runs."""
    concluded: Callable[[Execution], None] = field(default_factory=lambda: lambda ended: None, init=False)
    """Told how each run has ended, before its teardown is called."""
    _purse: Purse | None = field(default=None, init=False)
    owns_process: bool = field(default=False, init=False)
    """Whether the process carries out nothing but trials, so that an agent may end it: nothing is refused there."""

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Watch the model requests of this process for as long as trials run."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(TrialThreads())
        per_minute = self._settings.requests_per_minute
        throttle = Throttle(per_minute) if per_minute else None
        self._tap = tap = Tap(all_codecs(), throttle)
        with (
            nullcontext() if self.owns_process else contained(loop),
            tap.installed(),
            BotocoreHooks(all_codecs(), throttle).installed(),
        ):
            async with _kept_open(inside(self._adapter)), self._gateway_of(throttle) as self._gateway:
                yield

    def spend_from(self, purse: Purse) -> None:
        """Let all trials from now on take the cost of their model calls out of this purse."""
        self._purse = purse.priced(self._pricer.cost)

    def _gateway_of(self, throttle: Throttle | None) -> AbstractAsyncContextManager[Gateway | None]:
        """Return the gateway that the agent's model requests pass, if the agent runs in another process."""
        if not isinstance(inside(self._adapter), RunsOutside):
            return nullcontext()
        from agentmut.trial.mcp.front import open_tool_doors
        from agentmut.wire import open_gateway

        port, intercept = self._settings.proxy_port, self._settings.intercept
        return open_gateway(os.environ, throttle, port, tool_doors=open_tool_doors, intercept=intercept)

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial, once."""
        try:
            agent = self._agent(request)
            rewriter = agent.rewriter() if isinstance(agent, OnWire) and not request.player else None
            runs = inside(agent)
        except AgentmutError as error:  # an edit that does not fit, a config the adapter refuses
            return Execution(ending=Ending.UNBUILDABLE, reason=str(error))
        case, settings = self._cases[request.scenario], self._settings
        wiring = Wiring(
            rewriter=rewriter,
            gateway=self._gateway,
            player=request.player,
            record=settings.record or request.record,
            redact=settings.redact,
            fork=Fork(request.recorded) if request.recorded else None,
            prepared=self.prepared,
            begun=self.begun,
            concluded=self.concluded,
            purse=self._purse,
        )
        strangers = self._tap.strangers()
        ended = await attempt(
            runs, case, request.id, settings.seed, settings.timeout, wiring, repeat=request.repeat
        )
        return self.priced(_with_strangers(ended, strangers()))

    def priced(self, execution: Execution) -> Execution:
        """Return the execution with the price of each model call, of the hooks' and the judges' too."""
        trace, judging = self._pricer.priced(execution.trace), self._pricer.steps(execution.judging)
        hooks = self._pricer.steps(execution.hooks)
        if trace is execution.trace and judging is execution.judging and hooks is execution.hooks:
            return execution
        return execution.model_copy(update={"trace": trace, "judging": judging, "hooks": hooks})

    def _agent(self, request: TrialRequest) -> Adapter:
        key = (request.mutant.id if request.mutant else "", request.scenario)
        if key not in self._agents:
            if len(self._agents) >= KEPT_AGENTS:
                self._agents.pop(next(iter(self._agents)))
            full = self._suite.full
            config = request.mutant.apply(full) if request.mutant else full
            base, part = (self._suite.part(c, request.scenario) for c in (full, config))
            self._agents[key] = as_mutant(self._adapter, base, part)
        return self._agents[key]


def _with_strangers(execution: Execution, strangers: tuple[str, ...]) -> Execution:
    """Return the execution with the threads that sent model requests meanwhile, nobody knows for whom."""
    if not strangers:
        return execution
    seen = execution.footprint.model_copy(update={"strangers": strangers})
    return execution.model_copy(update={"footprint": seen})


@asynccontextmanager
async def _kept_open(adapter: Adapter) -> AsyncIterator[None]:
    """Keep the adapter's resources open while trials run."""
    if not isinstance(adapter, KeepsOpen):
        yield
        return
    name = type(adapter).__name__
    await asyncio.to_thread(run_plugin, f"adapter {name}: open()", adapter.open)
    try:
        yield
    finally:
        await asyncio.to_thread(run_plugin, f"adapter {name}: close()", adapter.close)


class RetryingExecutor:
    """An executor that repeats an attempt, with growing pauses, if the attempt is no evidence about the agent."""

    def __init__(self, inner: Executor, retries: int, wait: float = 0.5) -> None:
        self._inner = inner
        self._retries = retries
        self._wait = wait

    def session(self) -> AbstractAsyncContextManager[None]:
        """Return the inner executor's session."""
        return self._inner.session()

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial; repeat it after infrastructure trouble and after an empty run."""
        execution = await self._inner.execute(request)
        for retry in range(self._retries):
            if not execution.ending.is_retryable:
                break
            await asyncio.sleep(self._pause(retry))
            again = await self._inner.execute(request)
            of_both = {
                "attempts": retry + 2,
                "abandoned": execution.abandoned or again.abandoned,
                "judging": (*execution.judging, *again.judging),
                "hooks": (*execution.hooks, *again.hooks),
                "trace": _with_lost(again.trace, execution.trace),
            }
            execution = again.model_copy(update=of_both)
        return execution

    def _pause(self, retry: int) -> float:
        """Return a pause that doubles each time, at random, so that trials which failed together do not
        return together.
        """
        return min(self._wait * 2.0**retry, LONGEST_PAUSE) * random.uniform(0.5, 1.5)


def _with_lost(trace: AgentTrace, lost: AgentTrace) -> AgentTrace:
    """Return the trace with the cost of an attempt before it, which was no evidence."""
    if not lost.paid_tokens:
        return trace
    return trace.model_copy(update={"lost_usd": lost.paid_usd or 0.0, "lost_tokens": lost.paid_tokens})
