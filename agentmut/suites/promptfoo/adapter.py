"""Run one test of a promptfoo config as a trial."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import JsonValue

from agentmut._base import CaseError, UnavailableError, described, digest_of
from agentmut.adapters import outside_trace, record_steps
from agentmut.nouns import AgentTrace
from agentmut.recording import Trial
from agentmut.seams import RunsOutside
from agentmut.suites.answering_agent import AnsweringAgent
from agentmut.suites.promptfoo.bench import Bench, Job
from agentmut.suites.promptfoo.outcome import judged
from agentmut.suites.promptfoo.providers import led_through

T = TypeVar("T")
_UNREACHED = re.compile(
    r"HTTP call failed with status (?:408|425|429|502|503|504)\b|ECONNREFUSED|ECONNRESET|fetch failed"
)
"""What promptfoo says where an endpoint is overloaded or not there: this says nothing about the agent."""
TICK = 0.25
"""Seconds between two looks at the time that promptfoo takes."""


class ProviderError(RuntimeError):
    """The measured provider reported an error."""


@dataclass(frozen=True)
class PromptfooAdapter(AnsweringAgent):
    """An agent that a promptfoo config asks and judges, in place of the config's providers."""

    bench: Bench
    provided: bool = False
    """Whether the agent is a provider of the config, which gets promptfoo's context beside the prompt."""

    suite: ClassVar[str] = "promptfoo"

    @property
    def why_no_flow(self) -> str:
        """Return why the flow cannot be changed: a provider's requests do not show it."""
        return "" if self.agent else "no model request shows the flow"

    def versions(self) -> Mapping[str, str]:
        """Return the versions of promptfoo and of the agent's adapter, and digests of tests and settings."""
        suite, settings = self.bench.suite, self.bench.settings.model_dump(mode="json", exclude={"command"})
        own = {"promptfoo": suite.version, "suite": digest_of([suite.digest, settings])}
        return {**own, **super().versions()}

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run promptfoo on the test: the agent answers, promptfoo judges."""
        case = self.bench.suite.cases.get(str(turns[0]))
        if case is None:
            raise CaseError(f"the config has no test {turns[0]!r} any more")
        job = self.bench.submit(case)
        try:
            waited = trial.recorder.now()
            asked = await self._off_the_clock(job.asked, trial)
            waited = trial.recorder.now() - waited
            trace = await self._answered(asked, job, trial)
            trace = trace.model_copy(update={"seconds": max(0.0, trace.seconds - waited)})
            result = await self._off_the_clock(job.result, trial)
        finally:
            job.leave()
        return trace.model_copy(update={"checks": judged(result, case, self.bench.settings.raised)})

    async def _answered(self, asked: Mapping[str, Any], job: Job, trial: Trial) -> AgentTrace:
        """Return the agent's run, and give promptfoo its answer."""
        if self.agent is None:
            return await self._delegated(job, trial)
        turn = _program_input(asked) if self.provided else self._turn(asked)
        try:
            trace = await self.agent.run((turn,), trial)
        except Exception as error:  # the agent's own: the engine is to see it as it is
            job.answer.set_result({"error": described(error)})
            raise
        response, trace = _of_provider(trace) if self.provided else (_response(trace), trace)
        job.answer.set_result(response)
        return trace

    async def _delegated(self, job: Job, trial: Trial) -> AgentTrace:
        """Return the provider's call, with its model requests routed through agentmut."""
        settings = self.bench.settings
        chosen = led_through(self.bench.suite.providers, settings.provider, trial.id, trial.endpoints)
        job.answer.set_result({"delegate": chosen})
        response = await job.response
        record_steps(trial)
        if said := response.get("error"):
            raise UnavailableError(str(said)) if _UNREACHED.search(str(said)) else ProviderError(str(said))
        return outside_trace(response.get("output"), trial, 0)

    def _turn(self, asked: Mapping[str, Any]) -> JsonValue:
        name = self.bench.settings.input
        if name is None:
            return asked.get("prompt")
        if name not in (asked.get("vars") or {}):
            raise CaseError(f"the test has no variable {name!r}, which suite.promptfoo.input names")
        turn: JsonValue = asked["vars"][name]
        return turn

    async def _off_the_clock(self, future: "asyncio.Future[T]", trial: Trial) -> T:
        """Wait for promptfoo; this time does not count as the agent's. Raise `CaseError` if it takes too long."""
        begun = told = trial.recorder.now()
        while not future.done():
            await asyncio.wait({future}, timeout=TICK)
            now = trial.recorder.now()
            trial.recorder.count(held=now - told)
            told = now
            if now - begun > self.bench.settings.patience and not future.done():
                raise CaseError(f"promptfoo took longer than suite.promptfoo.patience, {now - begun:.0f} s")
        return future.result()


@dataclass(frozen=True)
class OutsidePromptfoo(PromptfooAdapter, RunsOutside):
    """An agent whose model requests pass a proxy: a promptfoo provider, or an agent in another process."""

    @property
    def carries(self) -> frozenset[str]:
        """Return the parts of the config that the agent is given."""
        return self.agent.carries if isinstance(self.agent, RunsOutside) else frozenset()


def _response(trace: AgentTrace) -> dict[str, Any]:
    """Return a trace as a provider's response; assertions find the tool calls in its metadata."""
    calls = [{"name": step.tool, "arguments": step.arguments} for step in trace.tool_calls]
    return {"output": trace.output if trace.outputs else "", "metadata": {"toolCalls": calls}}


def _program_input(asked: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the input of a provider's program: the prompt, and promptfoo's context with the test's variables."""
    return {
        "prompt": asked.get("prompt"),
        "context": asked.get("context") or {"vars": asked.get("vars") or {}},
    }


def _of_provider(trace: AgentTrace) -> tuple[dict[str, Any], AgentTrace]:
    """Return the response of a provider's program for promptfoo, and the trace with its output alone."""
    response = _response(trace)
    if not isinstance(trace.output, dict):
        return response, trace
    given: dict[str, Any] = trace.output
    metadata = {**response["metadata"], **(given.get("metadata") or {})}
    output = given.get("output")
    *steps, last = trace.steps
    outputs = () if output is None else (*trace.outputs[:-1], output)
    told = trace.model_copy(
        update={"steps": (*steps, last.model_copy(update={"output": output})), "outputs": outputs}
    )
    return {**given, "metadata": metadata}, told
