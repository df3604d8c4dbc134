"""Calls of decoy tools: they are answered here, and the agent never learns of them."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut._base import digest_of
from agentmut.nouns import Body, Codec, HttpCall, ModelReply, Role, ToolCall
from agentmut.wire.bodies import read_json, write_json
from agentmut.wire.rewriting.hidden_calls import HiddenCalls, RestoredConversation, beside, reply_id_of
from agentmut.wire.rewriting.replies import ModelCall, calls_made

ROUNDS = 8
"""How often a decoy's call is answered before one reply reaches the agent."""


class _HiddenExchange(NamedTuple):
    """The exchange of model and decoys that is hidden from the agent."""

    items: list[Any]
    answer: str
    """What the agent was told at last; its history goes on with it."""
    calls: Sequence[ToolCall]
    """What it was told to call."""
    beside: HiddenCalls | None
    """Calls of decoys that were made together with those."""

    def is_before(self, answer: "_AssistantPart") -> bool:
        """Return whether the agent's history continues with the text that the hidden exchange led to."""
        made = answer.calls[: len(self.calls)]
        same = len(made) == len(self.calls) and all(map(_is_same, made, self.calls))
        if self.answer:
            return same and answer.text.startswith(self.answer)
        return same and made == answer.calls and (bool(made) or not answer.text)


class _RequestOrigin(NamedTuple):
    """The origin of a request."""

    prefix: str
    """Digest of the conversation as the agent sent it."""
    rounds: int


@dataclass
class HiddenExchanges:
    """The hidden exchanges of a trial, so that each later request of the trial shows them to the model again."""

    _asked: dict[str, _RequestOrigin] = field(default_factory=dict)
    _hidden: dict[str, list[_HiddenExchange]] = field(default_factory=dict)
    _waiting: dict[str, list[Any]] = field(default_factory=dict)
    _owed: dict[str, list[Any]] = field(default_factory=dict)
    """Results of decoys by the id of the reply that the service has kept."""

    def put_back(self, codec: Codec, body: Body) -> Body:
        """Return the conversation with all that the agent has not seen."""
        owed = self._owed.get(str(body.get("previous_response_id")), [])
        if not (self._hidden or owed):
            return body
        key, roles = codec.roles(_listed(body))
        if not key:
            return body
        listed = _listed(body)
        said = _assistant_texts(codec, listed, key, roles)
        together = RestoredConversation(list(owed))
        for index, digest in enumerate(_digests(codec, listed, key, roles)):
            found = self._after(digest, said.get(index))
            together.follow(found.items, found.beside) if found else None
            for item in listed[key][index : index + 1]:
                together.add(item, roles[index])
        return {**body, key: together.items} if together.items != listed[key] else body

    def _after(self, digest: str, answer: "_AssistantPart | None") -> _HiddenExchange | None:
        """Return the exchange hidden after a conversation that continues with the assistant's `answer`."""
        hidden = () if answer is None else self._hidden.get(digest, ())
        return next((found for found in hidden if answer and found.is_before(answer)), None)

    def note_request(self, codec: Codec, original: Body, sent: HttpCall) -> None:
        """Remember which conversation of the agent a request belongs to."""
        listed = _listed(original)
        key, roles = codec.roles(listed)
        *_, digest = _digests(codec, listed, key, roles)
        self._asked.setdefault(_id(sent), _RequestOrigin(digest, 0))

    def next_request(
        self, codec: Codec, sent: HttpCall, reply: bytes, results: Mapping[str, str]
    ) -> HttpCall | None:
        """Return the request with the decoys' answers; None if there were enough such requests."""
        asked = self._asked.get(_id(sent), _RequestOrigin("", 0))
        if asked.rounds >= ROUNDS:
            return None
        continued = codec.continued(read_json(sent.body), reply, results)
        call = HttpCall(sent.path, write_json(continued))
        self._asked[_id(call)] = _RequestOrigin(asked.prefix, asked.rounds + 1)
        self._waiting[_id(call)] = [*self._waiting.get(_id(sent), ()), *_added(codec, sent, continued)]
        return call

    def calls_beside(
        self, codec: Codec, sent: HttpCall, reply: bytes, results: Mapping[str, str], names: Set[str]
    ) -> HiddenCalls | None:
        """Return the decoy calls that a reply makes beside other calls, with the results that the service may need."""
        items = _added(codec, sent, codec.continued(read_json(sent.body), reply, results))
        found = beside(items, names)
        reply_id = reply_id_of(codec, reply) if codec.name == "responses" else None
        if reply_id and found:
            self._owed[reply_id] = found.answers
        return found

    def finish(self, sent: HttpCall, reply: ModelReply, made: HiddenCalls | None) -> None:
        """Note that a request has its answer: earlier parts of the conversation are hidden from now on."""
        items = self._waiting.get(_id(sent), [])
        asked = self._asked.get(_id(sent))
        if (items or made) and asked:
            known = self._hidden.setdefault(asked.prefix, [])
            found = _HiddenExchange(items, _squeezed(reply.text), reply.tool_calls, made)
            known[:] = [
                found,
                *(one for one in known if (one.answer, one.calls) != (found.answer, found.calls)),
            ]


def _added(codec: Codec, sent: HttpCall, continued: Body) -> list[Any]:
    """Return the items that a conversation goes on with."""
    key, _ = codec.roles(continued)
    before = read_json(sent.body).get(key)
    return list(continued[key][len(before) if isinstance(before, list) else 1 :])


def _listed(body: Body) -> Body:
    """Return the body with its conversation as a list; some dialects also accept a single text or item."""
    if isinstance(body.get("input"), str):
        return {**body, "input": [{"role": "user", "content": body["input"]}]}
    return {**body, "contents": [body["contents"]]} if isinstance(body.get("contents"), dict) else body


class _AssistantPart(NamedTuple):
    """The assistant's part of a conversation from an item on; one reply may take several items."""

    text: str
    calls: list[ModelCall]


def _assistant_texts(codec: Codec, body: Body, key: str, roles: Sequence[Role]) -> dict[int, _AssistantPart]:
    own: dict[Any, str] = {}
    for found in codec.texts(body):
        if found.role is Role.ASSISTANT and found.path[0] == key:
            own[found.path[1]] = own.get(found.path[1], "") + _squeezed(found.text)
    said: dict[int, _AssistantPart] = {}
    for index in reversed(range(len(roles))):
        if roles[index] is Role.ASSISTANT:
            after = said.get(index + 1, _AssistantPart("", []))
            said[index] = _AssistantPart(
                own.get(index, "") + after.text, [*calls_made(body[key][index]), *after.calls]
            )
    return said


def _is_same(made: ModelCall, call: ToolCall) -> bool:
    return made.name == call.name and made.id in (None, call.id)


def _squeezed(text: str) -> str:
    """Return a text without white space, which agents strip and join."""
    return "".join(text.split())


def _digests(codec: Codec, body: Body, key: str, roles: Sequence[Role]) -> Iterator[str]:
    """Yield digests of the conversation before each item, and of all of it. Cache markers do not count, instructions
    do: several agents may be asked the same.
    """
    spoken: dict[Any, list[str]] = {}
    told: list[str] = []
    for text in codec.texts(body):
        if text.path[0] == key and len(text.path) > 1:
            spoken.setdefault(text.path[1], []).append(text.text)
        elif text.role is Role.SYSTEM:
            told.append(text.text)
    digest = digest_of([codec.name, told])
    yield digest
    for index, role in enumerate(roles):
        calls = list(calls_made(body[key][index])) if role is Role.ASSISTANT else []
        digest = digest_of([digest, role.value, spoken.get(index, []), calls])
        yield digest


def _id(call: HttpCall) -> str:
    return digest_of([call.path, call.body.decode("utf-8", "surrogateescape")])
