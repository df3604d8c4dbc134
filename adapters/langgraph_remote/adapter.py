"""Adapter for a graph on a LangGraph server (`langgraph dev`, LangGraph Platform), asked by the client `langgraph-sdk`.

Each trial has a thread of its own, with a run for each turn, and the thread is deleted afterwards. Like an agent behind
HTTP, the graph stays as it is: what a run is told by placeholders changes there, and model requests change where they
pass agentmut's proxy. Where a graph asks with `interrupt()`, the question is its answer to the turn, and the next turn
is the reply, as in a graph that runs here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from urllib.parse import urlsplit

from pydantic import JsonValue

from agentmut._base import AdapterError, UnavailableError, UsageError
from agentmut.adapters._shared.outside.agents import (
    OutsideAgent,
    check_options,
    placeholders_in,
    record_steps,
)
from agentmut.adapters._shared.outside.answers import NoAnswerError, answer_in, check_pointer
from agentmut.adapters._shared.outside.templates import endpoint_values, filled_body, texts
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.adapters.langgraph_remote import state
from agentmut.nouns import Action, AgentConfig, AgentTrace, Mutant, Step
from agentmut.recording import TRIAL_HEADER, Redactor, Trial, header_secrets, url_secrets
from agentmut.seams import AgentKeys, AgentSpec, TakesKeys

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient

DEFAULT_INPUT: JsonValue = {"messages": [{"role": "user", "content": "{input}"}]}
KEY = "x-api-key"
GRAPH, CONFIG, CONTEXT = "graph", "config", "context"
OWN = ("input", "trial")
"""Placeholders besides the parts of the config and the addresses of model services."""
REQUIREMENT = Requirement("langgraph_remote", "langgraph-sdk", (0, 2), (1, 0), "langgraph")
BUSY = frozenset({408, 425, 429, 502, 503, 504})
MISDIRECTED = frozenset({401, 403, 404, 405, 407, 410, 422})
"""Statuses that say that the project file is wrong: address, graph, input, or credentials."""


_Questions: TypeAlias = Sequence[Mapping[str, Any]]


class RemoteGraphError(RuntimeError):
    """The graph failed: its run ended with an error, stopped at a breakpoint, or left no answer."""


@dataclass
class _Talk:
    """The answers of a thread so far."""

    answers: list[Step] = field(default_factory=list)
    messages: Sequence[Mapping[str, Any]] = ()
    """The messages of the last state that has some."""
    questions: _Questions = ()
    """What the graph waits for."""


@dataclass(frozen=True)
class LangGraphRemoteAdapter(OutsideAgent, TakesKeys):
    """Runs the graph `options.graph` of the server at `agent.url`."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        "url", "http://127.0.0.1:2024", frozenset({"headers", "body", "answer", "proxy_port", "options"})
    )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "LangGraphRemoteAdapter":
        """Check address, graph, templates and their placeholders, without a request."""
        url = urlsplit(spec.url or "")
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError("agent.url: adapter langgraph_remote needs the address of a LangGraph server")
        if not isinstance(spec.options.get(GRAPH), str):
            raise UsageError(
                "agent.options.graph: name the graph, as in langgraph.json, or the id of an assistant"
            )
        REQUIREMENT.check()
        check_pointer(spec.answer)
        check_options(spec, config, (GRAPH, CONFIG, CONTEXT))
        names = placeholders_in(_templates(spec), config, OWN)
        return cls(spec, config, config, names)

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why the graph cannot be given a mutant: its server keeps the conversation."""
        if any(edit.part == "history" for edit in mutant.edits):
            return "the server keeps the conversation: an earlier one cannot be put before it"
        return super().cannot_express(mutant)

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Ask turn by turn in a new thread, and read each answer."""
        recorder = trial.recorder
        recorder.config_reads |= self.carries - {"tools"}  # which its servers tell
        talk = _Talk()
        reason: Exception | None = None
        try:
            await self._converse(turns, trial, talk)
        except Exception as error:
            reason = self._explained(error, trial)
        finally:
            record_steps(trial)
        if reason is not None:  # raised here, without the client's own error: that may hold secrets
            raise reason
        if not any(step.action is Action.CALL_TOOL for step in recorder.steps):
            # no request passed the proxy, but the state tells of calls
            recorder.steps[:0] = state.calls(talk.messages)
        steps = (*recorder.timeline(), *talk.answers)
        outputs = tuple(answer.output for answer in talk.answers)
        return AgentTrace(steps=steps, outputs=outputs, seconds=recorder.now())

    async def _converse(self, turns: tuple[JsonValue, ...], trial: Trial, talk: "_Talk") -> None:
        async with self._client(trial) as client:
            thread = (await client.threads.create())["thread_id"]
            try:
                for turn, said in enumerate(turns):
                    ended = await self._state(client, thread, said, talk.questions, trial)
                    talk.messages = state.messages(ended) or talk.messages
                    talk.questions = state.questions(ended)
                    if state.is_unfinished(ended) and not talk.questions:
                        await _refuse_breakpoint(client, thread)
                    output, now = self._answer(ended, trial), trial.recorder.now()
                    talk.answers.append(Step(action=Action.RESPOND, turn=turn, output=output, started=now))
            finally:
                with suppress(Exception):  # what is left on a server that has gone is no matter of the trial
                    await client.threads.delete(thread)

    def _client(self, trial: Trial) -> "LangGraphClient":
        from langgraph_sdk import get_client

        given = {name.lower(): value.get_secret_value() for name, value in self.spec.headers.items()}
        key = {"api_key": given.pop(KEY)} if KEY in given else {}  # the client takes it as no header
        return get_client(url=self.spec.url, headers={**given, TRIAL_HEADER: trial.id}, timeout=None, **key)

    async def _state(
        self, client: "LangGraphClient", thread: str, turn: JsonValue, waits: _Questions, trial: Trial
    ) -> Any:
        """Return the state at the end of a run. A run is cancelled where the trial is."""
        values = {**self.values(), **endpoint_values(trial, self.names), "input": turn, "trial": trial.id}
        options = self.spec.options
        more: Any = {
            name: filled_body(options[name], values, f"agent.options.{name}")
            for name in (CONFIG, CONTEXT)
            if name in options
        }
        if waits:
            more["command"] = {"resume": state.reply(waits, turn)}
        else:
            more["input"] = filled_body(DEFAULT_INPUT if self.spec.body is None else self.spec.body, values)
        graph = str(options[GRAPH])
        ended: Any = await client.runs.wait(thread, graph, on_disconnect="cancel", raise_error=False, **more)
        return ended

    def _answer(self, ended: Any, trial: Trial) -> JsonValue:
        failed = ended.get("__error__") if isinstance(ended, dict) else None
        if failed:
            said = (
                f"{failed.get('error')}: {failed.get('message')}" if isinstance(failed, dict) else str(failed)
            )
            raise RemoteGraphError(f"the graph failed: {trial.redact(said)[:600]}")
        if found := state.questions(ended):
            return state.asked(found)
        if self.spec.answer is not None:
            return answer_in(json.dumps(ended), self.spec.answer, "the state", trial.redact)
        last = next(reversed(state.messages(ended)), None)
        if last is None:
            raise RemoteGraphError(
                "the state has no messages; say where the answer is: agent.answer: /some/key"
            )
        return "" if last.get("type") in ("human", "system") else state.text(last)

    def _explained(self, error: Exception, trial: Trial) -> Exception:
        """Return the error: an unreachable server is no evidence, and a wrong address is none either."""
        import httpx

        if isinstance(error, NoAnswerError):
            return RemoteGraphError(str(error))
        if isinstance(error, httpx.HTTPStatusError):
            own = Redactor(header_secrets(self.spec.headers) | url_secrets(self.spec.url or ""))
            status = error.response.status_code
            # where the client puts what it was told
            body = " ".join(getattr(error, "__notes__", ()) or [str(error)])
            told = f"{self.place} answered {status}: {' '.join(trial.redact(own.text(body)).split())[:300]}"
            if status in MISDIRECTED:
                return AdapterError(f"{told}. Correct agent.url, agent.options or agent.headers")
            return UnavailableError(told) if status in BUSY else RemoteGraphError(told)
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return UnavailableError(f"nothing answers at {self.place}; start the server before the run")
        if isinstance(error, httpx.TransportError):
            return RemoteGraphError(f"{self.place} broke off the connection ({type(error).__name__})")
        return error


def _templates(spec: AgentSpec) -> Iterator[tuple[str, str]]:
    """Yield every text that may hold placeholders, with its place."""
    yield from (("agent.body", text) for text in texts(DEFAULT_INPUT if spec.body is None else spec.body))
    for name in (CONFIG, CONTEXT):
        yield from ((f"agent.options.{name}", text) for text in texts(spec.options.get(name)))


async def _refuse_breakpoint(client: "LangGraphClient", thread: str) -> None:
    """Raise an error if a graph's run stopped before its end without a question."""
    ahead = (await client.threads.get_state(thread)).get("next")
    if ahead:
        raise RemoteGraphError(
            f"the graph stopped at a breakpoint before {', '.join(ahead)}, and no turn makes it go on; compile it "
            "without interrupt_before and interrupt_after, or let it ask with interrupt(), which the next turn answers"
        )
