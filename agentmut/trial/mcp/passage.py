"""Calls and listings of a tool server in the current trial, for every transport."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agentmut.recording import Trial, TrialOverError, call_place
from agentmut.trial.calls.instrument import pass_call
from agentmut.trial.mcp import results
from agentmut.trial.mcp.listing import listed, own_name

Forward = Callable[[str], Awaitable[Mapping[str, Any]]]
"""Asks the server for a call of the tool of that name, its own; gives the result as the protocol writes it."""


class ToolError(Exception):
    """A tool's result that reports an error."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        super().__init__(str(results.text_of(result)))
        self.result = result


def list_reply(trial: Trial, reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply to `tools/list` in the form that the trial's agent gets."""
    trial.recorder.config_reads.add("tools")
    loose = {*trial.doubles, *(tool.own_name for tool in trial.tools.values() if tool.fault)}
    tools = listed(reply["tools"], trial.tool_change, loose=loose)
    return {**reply, "tools": tools}


def answers_itself(trial: Trial, offered: str) -> bool:
    """Return whether calls of the tool offered under a name have a double or a fault."""
    name = own_name(trial.tool_change, offered)
    return name is not None and (name in trial.doubles or trial.fault(name) is not None)


async def call_reply(
    trial: Trial, offered: str, arguments: Mapping[str, Any], forward: Forward
) -> Mapping[str, Any]:
    """Return the result of a call of an offered tool in the form that the trial's agent gets.

    The call is a step, answered by its double or met by its fault. Raises what `forward` raises, which is then in
    the step, and `TrialOverError`.
    """
    name = own_name(trial.tool_change, offered)
    if name is None:
        return _unknown(trial, offered, arguments)
    call = _Call(name, forward)
    try:
        given = await pass_call(name, arguments, call.text, within=results.within)
    except TrialOverError:
        raise
    except Exception as error:
        if isinstance(error, _Unfinished):
            trial.recorder.steps.pop()  # the call is a step once it has its result
            return error.result
        if error is call.error:
            if isinstance(error, ToolError):
                return error.result
            raise
        return results.failure(offered, error)
    if call.result is None:
        return results.result_of(given)
    return call.result if given == call.given else results.with_text(call.result, given)


class _Unfinished(Exception):  # noqa: N818  (no failure)
    """A server's answer that asks for more information first."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        super().__init__("the call is not finished")
        self.result = result


class _Call:
    """A call that the server carries out, unless a double or fault answers it."""

    def __init__(self, name: str, forward: Forward) -> None:
        self._name = name
        self._forward = forward
        self.result: Mapping[str, Any] | None = None
        self.given: Any = None
        self.error: Exception | None = None

    async def text(self) -> Any:
        """Carry out the call and return the text of its result. Raise `ToolError` for an error of the tool."""
        try:
            result = await self._forward(self._name)
            if results.is_unfinished(result):
                raise _Unfinished(result)
            if result.get("isError"):
                raise ToolError(result)
        except Exception as error:
            self.error = error
            raise
        self.result, self.given = result, results.text_of(result)
        return self.given


def _unknown(trial: Trial, offered: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = results.unknown(offered)
    said = str(results.text_of(result))
    recorder = trial.recorder
    recorder.note_call(offered, dict(arguments), recorder.now(), error=said, **call_place()._asdict())
    return result
