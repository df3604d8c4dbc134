"""LangChain callbacks -> trace steps."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.types import Command
from pydantic import JsonValue

from agentmut._base import described, jsonable
from agentmut.adapters.langgraph.path import NodePath, Place, place_of
from agentmut.nouns import Action, Step, Usage
from agentmut.recording import Recorder


class TraceHandler(BaseCallbackHandler):
    """Records a step for each model call and each tool call of one trial.

    Runs are told apart by LangChain's run id, so parallel calls of one tool stay separate steps.
    """

    run_inline = True  # in the order of events, in the task that caused them

    def __init__(self, recorder: Recorder, graph: Any) -> None:
        self._recorder = recorder
        self._way = NodePath(graph, recorder)
        self._places: dict[UUID, Place] = {}
        self._open: dict[UUID, dict[str, Any]] = {}
        self._asked: dict[tuple[str, str], Step] = {}
        """The calls of tools that wait for a reply, by tool and id; some services give ids again."""
        self.turn = 0

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note that something begins in a node of the graph, or of a graph in a node."""
        if place := place_of(kwargs.get("metadata")):
            self._places[run_id] = place
            self._way.enter(place)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a node fails, or leaves its graph by LangGraph's control flow."""
        place = self._places.get(run_id)
        if place and isinstance(error, GraphInterrupt):
            self._way.leave(place, to_ask=True)
        elif place and isinstance(error, ParentCommand) and error.args[0].graph == Command.PARENT:
            self._way.leave(place, to_ask=False)

    def forget(self) -> None:
        """Note that the user will not reply to the graph; its next question is a new one."""
        self._asked.clear()

    def end_turn(self) -> None:
        """Note that the graph has answered."""
        self._way.end_turn()

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a model call begins."""
        self._begin(run_id, kwargs, action=Action.REASON)

    def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a completion-style model call begins."""
        self._begin(run_id, kwargs, action=Action.REASON)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record the end of a model call; usage and model name are read from the reply."""
        first = next((batch[0] for batch in response.generations if batch), None)
        message = getattr(first, "message", None)
        usage = getattr(message, "usage_metadata", None) or {}
        self._end(
            run_id,
            output=jsonable(str(message.text)) if message is not None else None,
            model=getattr(message, "response_metadata", {}).get("model_name"),
            usage=_usage(usage),
        )

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a model call fails after the SDK's own retries."""
        self._end(run_id, error=described(error))

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a tool call begins."""
        name = (serialized or {}).get("name")
        if asked := self._asked.pop((str(name), str(kwargs.get("tool_call_id"))), None):
            self._recorder.steps.remove(asked)
        self._begin(
            run_id,
            kwargs,
            action=Action.CALL_TOOL,
            tool=name,
            arguments=_arguments(kwargs.get("inputs"), input_str),
            call_id=kwargs.get("tool_call_id"),
        )

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record the end of a tool call; a tool message of status `error` is an error."""
        told = _model_output(output, self._open.get(run_id, {}).get("call_id"))
        content = jsonable(getattr(told, "content", told))
        failed = getattr(told, "status", None) == "error"
        self._end(run_id, output=content, error=str(content) if failed else None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a tool raises or asks the user; the second call with the user's answer is the same call."""
        if not isinstance(error, GraphInterrupt):
            self._end(run_id, error=described(error))
            return
        if (step := self._end(run_id)) and step.call_id:
            self._asked[str(step.tool), step.call_id] = step

    def _begin(self, run_id: UUID, kwargs: dict[str, Any], **fields: Any) -> None:
        place = place_of(kwargs.get("metadata"))
        node = place.path if place else None
        self._open[run_id] = {"started": self._recorder.now(), "turn": self.turn, "node": node, **fields}

    def _end(self, run_id: UUID, **fields: Any) -> Step | None:
        begun = self._open.pop(run_id, None)
        if begun is None:
            return None
        step = Step(seconds=self._recorder.now() - begun["started"], **begun, **fields)
        self._recorder.steps.append(step)
        return step


def _model_output(output: Any, call_id: str | None) -> Any:
    """Return the tool message for the model; a `Command`, or several, may contain it."""
    parts = output if isinstance(output, list) else [output]
    said = [message for part in parts for message in _messages(part)]
    ours = (one for one in said if call_id and getattr(one, "tool_call_id", None) == call_id)
    return next(ours, output)


def _messages(part: Any) -> Sequence[Any]:
    """Return a message, or the messages of a `Command`."""
    if not hasattr(part, "goto"):
        return [part]
    found = part.update.get("messages") if isinstance(part.update, Mapping) else part.update
    return found if isinstance(found, list | tuple) else [found]


def _arguments(inputs: Any, text: str) -> dict[str, JsonValue]:
    if isinstance(inputs, dict):
        return {name: jsonable(value) for name, value in inputs.items()}
    return {"input": text}


def _usage(counts: Mapping[str, Any]) -> Usage:
    """Return LangChain's token counts; their input includes cached tokens."""
    read, details = counts.get("input_tokens", 0), counts.get("input_token_details") or {}
    cached = min(read, details.get("cache_read") or 0)
    return Usage(
        input_tokens=read,
        output_tokens=counts.get("output_tokens", 0),
        cached_tokens=cached,
        cache_written_tokens=min(read - cached, details.get("cache_creation") or 0),
    )
