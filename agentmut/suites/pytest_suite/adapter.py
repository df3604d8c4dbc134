"""Run one test of a held session as a trial."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar, Literal

from pydantic import JsonValue

from agentmut._base import AdapterError, AgentmutError, digest_of
from agentmut.adapters import record_steps
from agentmut.nouns import Action, AgentConfig, AgentTrace, Check, Mutant, Step, unreachable_fault
from agentmut.recording import Trial, alone, is_worker
from agentmut.seams import ChoosesRoute, HoldsInputs, KeepsOpen, KnowsOriginal, RunsAlone, RunsCases
from agentmut.suites.answering_agent import AnsweringAgent
from agentmut.suites.pytest_suite.collecting import collected
from agentmut.suites.pytest_suite.held_session import HeldSession
from agentmut.suites.pytest_suite.outcome import Phase, judged
from agentmut.suites.pytest_suite.pytest_settings import Case, PytestSettings
from agentmut.suites.pytest_suite.run_state import RunState
from agentmut.wire import ConfigRewriter, steps_from_exchanges

PLUGINS = ("pytest", "pytest-asyncio", "anyio")
"""Distributions that shape how a test is run."""


@dataclass(frozen=True)
class PytestAdapter(
    AnsweringAgent, ChoosesRoute, HoldsInputs, KeepsOpen, KnowsOriginal, RunsAlone, RunsCases
):
    """An agent that a pytest suite runs.

    By route `rebuild` tests that take a fixture of agentmut are given the mutant's config, and the model requests of
    all others are changed on their way. By route `wire` all requests are.
    """

    original: AgentConfig
    settings: PytestSettings
    held: HeldSession

    suite: ClassVar[str] = "pytest"

    @property
    def why_no_flow(self) -> str:
        """Return why the flow cannot be changed; empty if a test's fixture gives it to the test."""
        if any(self._taking.values()):
            return ""
        return "no test takes agentmut_config or agentmut_agent, and no model request shows the flow"

    def cannot_reach(self, mutant: Mutant) -> str:
        """Return why a mutant's fault cannot take effect: the calls of tools belong to the tests."""
        return unreachable_fault(mutant, self.original, self.doubled_tools)

    @property
    def runs_alone(self) -> bool:
        """Return True: a session runs one test at a time."""
        return True

    @property
    def raised(self) -> Literal["error", "fail"]:
        """Return what an exception in the agent, or the end of its process, counts as."""
        return self.settings.raised

    @property
    def why_no_other_input(self) -> str:
        """Return why a test cannot get another input."""
        return "the tests of a pytest suite say themselves what the agent is asked"

    @property
    def default_route(self) -> Literal["rebuild", "wire"]:
        """Return the wire, unless a test takes a fixture with the config."""
        return "rebuild" if any(self._taking.values()) else "wire"

    def versions(self) -> Mapping[str, str]:
        """Return the versions of pytest, of async plugins and of the agent's adapter, and a digest of the settings."""
        own = {name: found for name in PLUGINS if (found := _version(name))}
        settings = digest_of(self.settings.model_dump(mode="json", exclude={"cases", "directory"}))
        return {**own, "suite": settings, **super().versions()}

    def open(self) -> None:
        """Collect the tests, in the process that will run them."""
        self.held.cases()

    def close(self) -> None:
        """End the session."""
        self.held.close()

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the test that the turn names, once."""
        case = str(turns[0])
        trial = self._carrying(case, trial)
        running = RunState(trial, self.config, self.agent)
        try:
            with alone(trial):
                phases = await self._carried_out(case, running)
            checks = self._judged(phases, running)
        except BaseException:
            if not trial.recorder.steps:  # what is known of a run that gives no trace
                record_steps(trial)
            raise
        finally:
            self._note(running)
        return _trace(running, checks)

    def _judged(self, phases: tuple[Phase, ...], running: RunState) -> tuple[Check, ...]:
        """Return the checks of a test that ended. Raise `CaseError` if it says nothing about the agent."""
        return (judged(phases, self.settings.raised, running.errors),)

    async def _carried_out(self, case: str, running: RunState) -> tuple[Phase, ...]:
        """Wait for the held session; a test that does not end counts as a busy thread."""
        recorder = running.trial.recorder
        done = self.held.submit(case, running)
        recorder.count(threads=1)
        done.add_done_callback(lambda _: recorder.count(threads=-1))
        return await asyncio.wrap_future(done)

    def _carrying(self, case: str, trial: Trial) -> Trial:
        """Run the trial, with changed requests if the test does not take the config."""
        if (
            self._on_wire
            or trial.player is not None
            or self._taking.get(case)
            or self.config == self.original
        ):
            return trial
        unseen = {"orchestration": self.original.orchestration, "history": self.original.history}
        try:
            return replace(
                trial, rewriter=ConfigRewriter(self.original, self.config.model_copy(update=unseen))
            )
        except AgentmutError as error:
            raise AdapterError(str(error)) from error

    def _note(self, running: RunState) -> None:
        """Record the read parts of the config; they prove a mutation only if the config is the mutant's."""
        recorder = running.trial.recorder
        reads = {read for read in running.reads if not self._on_wire or read.startswith("orchestration")}
        recorder.config_reads |= reads
        if running.trial.rewriter is not None:
            recorder.marks |= running.trial.rewriter.marks

    @property
    def _on_wire(self) -> bool:
        return (self.spec.route or self.default_route) == "wire"

    @cached_property
    def _taking(self) -> dict[str, bool]:
        return {case.id: case.takes_config for case in self._cases()}

    def _cases(self) -> tuple[Case, ...]:
        """Return the tests; only a worker process holds them, other processes do not import them."""
        if self.settings.cases is not None:
            return self.settings.cases
        return self.held.cases() if is_worker() else collected(self.settings)


def _trace(running: RunState, checks: tuple[Check, ...]) -> AgentTrace:
    """Return what a test's run showed: through the fixture's agent, or else by its model requests."""
    recorder = running.trial.recorder
    if running.traces:
        steps = [step for trace in running.traces for step in trace.steps]
        outputs = tuple(output for trace in running.traces for output in trace.outputs)
    else:
        calls = any(step.action is Action.CALL_TOOL for step in recorder.steps)
        seen = steps_from_exchanges(recorder.exchanges, with_tools=not calls)
        said = _last_reply(running)
        steps, outputs = [*recorder.steps, *seen, *said], tuple(step.output for step in said)
    return AgentTrace(
        steps=tuple(sorted(steps, key=lambda step: step.started)),
        outputs=outputs,
        seconds=recorder.now(),
        edges=tuple(recorder.edges),
        checks=checks,
    )


def _last_reply(running: RunState) -> list[Step]:
    """Return the model's last reply as the answer: what a test makes of it cannot be seen."""
    recorder = running.trial.recorder
    texts = [exchange.reply.text for exchange in recorder.exchanges if exchange.reply and exchange.reply.text]
    return [Step(action=Action.RESPOND, output=texts[-1], started=recorder.now())] if texts else []


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
