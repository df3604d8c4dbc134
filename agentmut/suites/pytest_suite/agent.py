"""The fixture `agentmut_agent`: the project's agent, built by its adapter from the config under test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, AgentTrace
from agentmut.recording import Trial, running
from agentmut.seams import Adapter
from agentmut.suites.pytest_suite.run_state import RunState


class AgentUnderTest:
    """Runs the agent. Every run builds it again and returns an `AgentTrace`, with `text`, `outputs`, `tools_called`.

    In an async test use `await agent.arun("...")`. An exception of the agent is raised as it is.
    """

    def __init__(self, adapter: Adapter, during: RunState | None = None) -> None:
        self._adapter = adapter
        self._during = during

    @property
    def config(self) -> AgentConfig:
        """Return the config that it is built from."""
        return self._adapter.get_config()

    def run(self, *turns: JsonValue) -> AgentTrace:
        """Run the agent on what the user says, one argument a turn."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.arun(*turns))
        raise RuntimeError(
            "agentmut_agent.run() cannot wait in an async test: await agentmut_agent.arun(...)"
        )

    async def arun(self, *turns: JsonValue) -> AgentTrace:
        """Run the agent, from an async test under asyncio."""
        if not turns:
            raise TypeError(
                "agentmut_agent is asked nothing: run() takes what the user says, a turn or several"
            )
        if self._during is None:
            async with _watched() as trial:
                return await self._adapter.run(turns, trial)
        return await _recorded(self._adapter, turns, self._during)


async def _recorded(adapter: Adapter, turns: tuple[JsonValue, ...], during: RunState) -> AgentTrace:
    """Run as a part of a trial: the steps are the trial's, and an exception is the agent's own."""
    trial = during.trial
    recorder = trial.recorder
    begun, read = recorder.now(), set(recorder.config_reads)
    try:
        trace = await adapter.run(turns, trial)
    except Exception as error:
        during.errors.append(error)
        raise
    finally:
        recorder.config_reads |= read
    steps = tuple(step for step in trace.steps if step.started >= begun)
    trace = trace.model_copy(update={"steps": steps}).with_own_names(trial.tools)
    during.traces.append(trace)
    return trace


@asynccontextmanager
async def _watched() -> AsyncIterator[Trial]:
    """Run outside of a campaign: model requests are recorded, and pass unchanged."""
    from agentmut.wire import Tap, all_codecs

    with Tap(all_codecs()).installed(), running(Trial(id="pytest")) as trial:
        yield trial
