"""A managed agent of smolagents, as its manager calls it."""

from typing import Any

from smolagents import AgentMaxStepsError, MultiStepAgent

from agentmut._base import described, jsonable
from agentmut.adapters.smolagents.calls import Calls
from agentmut.recording import CallPlace, Recorder, answering, call_place, call_tool_step

OUT_OF_STEPS = "it reached max_steps without an answer, and smolagents had the model write one"


class Member:
    """Passes tasks on to an agent; each is a step of the trace, and a way from one node to another."""

    def __init__(
        self,
        called: str,
        told: MultiStepAgent,
        agent: MultiStepAgent,
        manager: str,
        ids: Calls,
        recorder: Recorder,
    ) -> None:
        self.name = called
        self.description, self.inputs, self.output_type = told.description, told.inputs, told.output_type
        self._agent = agent
        self._manager = manager
        self._ids = ids
        self._recorder = recorder

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the agent reports of a task."""
        arguments = {**dict(zip(self.inputs, args, strict=False)), **kwargs}
        given = {name: jsonable(value) for name, value in arguments.items()}
        turn, node, agent = call_place().turn, str(self._agent.name), self._agent
        place = CallPlace(turn, self._manager, self._ids.taken(self.name, arguments, self._manager))
        started, outcome = self._recorder.now(), {}
        self._recorder.nodes.add(node)
        self._recorder.edges |= {(self._manager, node): None, (node, self._manager): None}
        try:
            with answering(CallPlace(turn, node)):
                report = agent(*args, **kwargs)
            outcome = {"output": jsonable(report), "error": OUT_OF_STEPS if out_of_steps(agent) else None}
        except Exception as error:
            outcome = {"error": described(error)}
            raise
        finally:
            step = call_tool_step(self.name, given, self._recorder, started, **place._asdict(), **outcome)
            self._recorder.steps.append(step)
        return report


def out_of_steps(agent: MultiStepAgent) -> bool:
    """Whether the last run ended at its limit: what it answers then is no success."""
    steps = agent.memory.steps
    return bool(steps) and isinstance(getattr(steps[-1], "error", None), AgentMaxStepsError)
