"""The rewriter of one trial: it applies the difference between two configs to model requests."""

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

from agentmut.mutation import decoy_answer
from agentmut.nouns import (
    AgentConfig,
    Body,
    Codec,
    History,
    HttpCall,
    ModelReply,
    ReplyFault,
    Text,
    Transcript,
)
from agentmut.recording import HandledReply, OutgoingRequest
from agentmut.wire.bodies import ReadCall, read_as, read_call, write_json
from agentmut.wire.rewriting.changes import PromptChange, SettingsChange
from agentmut.wire.rewriting.decoys import HiddenExchanges
from agentmut.wire.rewriting.documents import DocumentsChange
from agentmut.wire.rewriting.hidden_calls import HiddenCalls
from agentmut.wire.rewriting.history import altered
from agentmut.wire.rewriting.names import Names, Offer
from agentmut.wire.rewriting.pruning import called_names, without_calls
from agentmut.wire.rewriting.replies import calls_in, changed_reply
from agentmut.wire.rewriting.reply_faults import faulty_reply
from agentmut.wire.rewriting.results import Call, Results, ToolOf
from agentmut.wire.rewriting.splicing import spliced
from agentmut.wire.rewriting.tools import ToolsChange
from agentmut.wire.rewriting.transcript import retold

_log = logging.getLogger(__name__)


class ConfigRewriter:
    """Turns the model requests of an agent with the config `base` into those of an agent with the config `mutated`.

    Tools are carried out by the agent: a fault changes what the model is told of a result, and the tool HAS
    done what it does. A tool that the model calls although the mutant does not offer it reaches the agent under
    a name that it does not know, so that it is refused like any unknown tool.
    """

    def __init__(self, base: AgentConfig, mutated: AgentConfig) -> None:
        self._lock = threading.RLock()
        self._history = mutated.history if mutated.history != base.history else None
        self._transcript = mutated.transcript if mutated.transcript != base.transcript else None
        self._reply = mutated.reply if mutated.reply != base.reply else None
        self._prompt = PromptChange(base.prompt, mutated.prompt)
        self._documents = DocumentsChange(base.context, mutated.context)
        self._settings = SettingsChange(base.model, mutated.model)
        self._offer = Offer(base, mutated)
        self._tools = ToolsChange(self._offer)
        self._names = Names(self._offer)
        self._names_of: dict[int, Names] = {}
        faulty = self._offer.faulty.items()
        self._results = Results({name: tool.fault for name, tool in faulty if tool.fault})
        self._hidden = HiddenExchanges()
        self._called: dict[str, str] = {}
        self._late: set[Call] = set()
        self._marks: set[str] = set()

    @property
    def marks(self) -> frozenset[str]:
        """Return pointers of the live changes that took effect: `/tools/<own name>/fault`, `/history`, `/transcript`,
        `/reply`.
        """
        with self._lock:
            return frozenset(self._marks)

    @cached_property
    def _changes_texts(self) -> bool:
        return bool(self._prompt.is_any or self._documents.is_any or self._results.faults)

    @property
    def needs_whole_replies(self) -> bool:
        """Return whether replies may call decoys or are changed as wholes, so that streams have to be collected."""
        return bool(self._offer.decoys) or self._reply is not None

    def request(self, codec: Codec, call: HttpCall) -> OutgoingRequest:
        """Return the request as the mutant sends it; the very same bytes if it does not change."""
        try:
            original = read_call(call)
        except ValueError:
            return OutgoingRequest(call)
        with self._lock:
            request = _Request(codec, call, original, self._names)
            marks = set(self._marks)
            try:
                pause, sent = self._rewrite(request), request.rewritten
            except Exception:  # no mistake here may become one of the agent's
                _log.exception(
                    "a request of %s could not be rewritten; it is sent as the agent made it", codec.name
                )
                self._marks = marks
                return OutgoingRequest(call)
            self._remember_names(sent, request.names)
            if self._offer.decoys:
                with suppress(ValueError):
                    self._hidden.note_request(codec, original, sent)
        return OutgoingRequest(sent, pause)

    def reply(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        """Return the reply for the agent, or the request that answers calls of decoys."""
        with self._lock:
            try:
                return self._replied(codec, sent, body)
            except Exception:
                _log.exception(
                    "a reply of %s could not be rewritten; the agent is given it as it came", codec.name
                )
                return HandledReply(body)

    def _replied(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        if self._offer.decoys:
            answered = self._without_decoys(codec, sent, body)
            if answered.again:
                return answered
            body = answered.body
        if self._reply is not None:
            body = self._with_fault(codec, body, self._reply)
        listens = self._names.differ or self._results.faults
        rename = partial(self._in_agents_names, self._names_in(sent), codec)
        return HandledReply(changed_reply(codec, body, rename) if listens else body)

    def _with_fault(self, codec: Codec, body: bytes, fault: ReplyFault) -> bytes:
        try:
            after = faulty_reply(codec, body, fault)
        except ValueError:  # an error, a damaged reply, or one that the dialect cannot say
            return body
        if after is not body:
            self._marks.add("/reply")
        return after

    def event(self, codec: Codec, sent: HttpCall, value: object) -> object:
        """Return one event of a streamed reply for the agent."""
        with self._lock:
            return self._in_agents_names(self._names_in(sent), codec, value)

    def _rewrite(self, request: "_Request") -> float:
        """Apply all changes to a request, the renaming of tools last; return the seconds that it has to wait."""
        pauses: list[float] = []
        if self._offer.decoys:
            request.attempt(lambda body: self._hidden.put_back(request.codec, body))
        if self._history is not None:
            request.attempt(partial(self._with_history, request.codec, self._history))
        if self._transcript is not None:
            request.attempt(partial(self._with_transcript, request.codec, self._transcript))
        if self._changes_texts:
            request.attempt(lambda body: self._with_texts(request, body, pauses))
        if self._tools.is_any:
            request.attempt(lambda body: self._with_tools(request, body))
        self._set(request)
        if self._names.differ:
            request.attempt(lambda body: self._with_names(request, body))
        return max(pauses, default=0.0)

    def _with_history(self, codec: Codec, history: History, body: Body) -> Body:
        after = altered(codec, body, history, self._prompt.carried)
        if after is not body and after != body:
            self._marks.add("/history")
        return after

    def _with_transcript(self, codec: Codec, transcript: Transcript, body: Body) -> Body:
        after = retold(codec, body, transcript, self._prompt.carried)
        if after != body:
            self._marks.add("/transcript")
        return after

    def _with_texts(self, request: "_Request", body: Body, pauses: list[float]) -> Body:
        before = tuple(request.codec.texts(body))
        is_own = self._documents.is_any and self._prompt.is_of(before)
        texts = self._documents.made_to(self._prompt.made_to(before), is_own=is_own)
        if self._results.faults:
            texts = self._with_faults(request, texts, pauses)
        pairs = zip(before, texts, strict=True)
        changed = {old.path: new.text for old, new in pairs if old is not new and old.text != new.text}
        return request.codec.with_texts(body, changed) if changed else body

    def _with_faults(
        self, request: "_Request", texts: tuple[Text, ...], pauses: list[float]
    ) -> tuple[Text, ...]:
        """Return the texts with the results of faulty tools changed; add the delay of each new result in seconds."""
        spoiled = self._results.spoiled(texts, self._tool_of(request))
        late = {call: seconds for call, seconds in spoiled.late.items() if call not in self._late}
        self._late |= late.keys()
        self._mark(*spoiled.changed, *(tool for tool, *_ in late))
        pauses += late.values()
        return spoiled.texts

    def _tool_of(self, request: "_Request") -> ToolOf:
        def tool(text: Text) -> str | None:
            if text.tool is not None:
                return text.tool
            call_id = text.call_id or ""
            return request.called.get(call_id) or self._called.get(call_id)

        return tool

    def _mark(self, *tools: str) -> None:
        own = {name: tool.own_name for name, tool in self._offer.known.items()}
        self._marks |= {f"/tools/{own.get(tool, tool)}/fault" for tool in tools}

    def _with_tools(self, request: "_Request", body: Body) -> Body:
        tools = request.codec.tools(body)
        request.names = Names(self._offer, self._tools.clashes(tools))
        after = self._tools.made_to(tools, request.names.clashes)
        if after is tools:
            return body
        changed = request.codec.with_tools(body, after)
        before, now = ({tool.spec.name for tool in some if tool.spec} for some in (tools, after))
        request.names = request.names.withdrawing(before, now)
        return changed

    def _set(self, request: "_Request") -> None:
        if not self._settings.names:
            return
        try:
            due = list(self._settings.due(request.codec.decode_request(request.call)))
        except ValueError:
            return
        for name, value in due:
            request.set(name, value)

    def _with_names(self, request: "_Request", body: Body) -> Body:
        return request.codec.with_tool_names(body, request.names.name_for_model)

    def _remember_names(self, sent: HttpCall, names: Names) -> None:
        """Remember the names of a request for its reply, by its hash, which Python caches, since events are many."""
        if names is self._names and not self._names_of:  # nearly always: a long request is not hashed for it
            return
        if names != self._names or hash(sent) in self._names_of:
            self._names_of[hash(sent)] = names

    def _names_in(self, sent: HttpCall) -> Names:
        return self._names_of.get(hash(sent), self._names) if self._names_of else self._names

    def _without_decoys(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        try:
            reply = codec.decode_reply(body)
        except ValueError:  # an error, or cut off: the agent's to deal with
            return HandledReply(body)
        names = self._names_in(sent)
        called = called_names(codec, body) & names.decoys
        self._mark(*(self._offer.decoys[name].own_name for name in called))
        if called and all(call.name in called for call in reply.tool_calls) and reply.tool_calls:
            again = self._next_request(codec, sent, body, reply)
            if again:
                self._remember_names(again, names)
                return HandledReply(body, again)
        shown = without_calls(codec, body, called) if called else body
        beside = self._calls_beside(codec, sent, body, reply) if called else None
        renamed = [call.model_copy(update={"name": names.own(call.name)}) for call in reply.tool_calls]
        left = tuple(call for call in renamed if call.name not in called)
        self._hidden.finish(sent, reply.model_copy(update={"tool_calls": left}), beside)
        return HandledReply(shown)

    def _next_request(self, codec: Codec, sent: HttpCall, body: bytes, reply: ModelReply) -> HttpCall | None:
        answers = {call.id: str(decoy_answer()) for call in reply.tool_calls}
        try:
            return self._hidden.next_request(codec, sent, body, answers)
        except ValueError:
            return None

    def _calls_beside(
        self, codec: Codec, sent: HttpCall, body: bytes, reply: ModelReply
    ) -> HiddenCalls | None:
        """Return the decoy calls beside other calls; they are answered when the conversation continues."""
        decoys = self._names_in(sent).decoys
        answers = {call.id: str(decoy_answer()) for call in reply.tool_calls if call.name in decoys}
        try:
            return self._hidden.calls_beside(codec, sent, body, answers, decoys) if answers else None
        except ValueError:
            return None

    def _in_agents_names(self, names: Names, codec: Codec, value: Any) -> Any:
        """Return a plain reply or an event, in the agent's names."""
        if self._results.faults:
            self._called |= {id_: names.own(name) for id_, name in calls_in(value)}
        if not names.differ:
            return value
        try:
            return codec.reply_with_tool_names(value, names.own)
        except ValueError:
            return value


class _Request:
    """A request on its way through the changes. A request that the codec refuses is left out."""

    def __init__(self, codec: Codec, call: HttpCall, original: Body, names: Names) -> None:
        self.codec = codec
        self.names = names
        self.call = ReadCall.from_call(call, original)
        self._given = call
        self._original = original
        self._path, self._body = call.path, original

    def attempt(self, step: Callable[[Body], Body]) -> None:
        """Take a step of the changes; a body that the step refuses stays as it is."""
        try:
            self._body = step(self._body)
        except ValueError:
            return

    def set(self, name: str, value: Any) -> None:
        """Set one setting of the model. Services refuse a tool choice without tools."""
        try:
            if name == "tool_choice" and value is not None and not self.codec.tools(self._body):
                return
            here = ReadCall.from_call(HttpCall(self._path, self.call.body), self.call.read)
            self._path, self._body = self.codec.with_setting(here, self._body, name, value)
        except ValueError:
            return

    @cached_property
    def called(self) -> Mapping[str, str]:
        """Return the tools that the conversation calls, by call id."""
        try:
            messages = self.codec.decode_request(self.call).messages
        except ValueError:
            return {}
        return {call.id: call.name for message in messages for call in message.tool_calls if call.id}

    @property
    def rewritten(self) -> HttpCall:
        """Return the request with its changes; the very same call if there are none."""
        if self._body is not self._original and self._body != self._original:
            return self._written()
        return self._given if self._path == self.call.path else HttpCall(self._path, self.call.body)

    def _written(self) -> HttpCall:
        """Return the changed request, with the bytes of the agent's wherever nothing changes.

        What is read is what the bytes say, never what they were meant to say: the witness looks at it.
        """
        body = spliced(self.call.body, self._original, self._body)
        if body is not None and (read := read_as(body, self._body)) is not None:
            return ReadCall.from_call(HttpCall(self._path, body), read)
        return HttpCall(self._path, write_json(self._body))
