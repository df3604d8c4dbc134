"""Calls of tools that have nothing behind them: answered here, so that the agent learns of none of them."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut.frozen import digest_of
from agentmut.wire.bodies import read_json, write_json
from agentmut.wire.codec import Body, Codec, HttpCall
from agentmut.wire.messages import ModelReply, Role

ROUNDS = 8
"""How often a decoy's call is answered before one reply reaches the agent."""
_DROPPED = "agentmut-call-of-no-tool"


class _Hidden(NamedTuple):
    """What model and decoys said to each other, which the agent has not seen."""

    items: list[Any]
    said: str
    """What the agent was told at last; its history goes on with it."""


class _Asked(NamedTuple):
    """Where a request came from."""

    prefix: str
    """Digest of the conversation as the agent sent it."""
    rounds: int


@dataclass
class HiddenExchanges:
    """What a trial must remember of decoys, so that the model is told the same each time."""

    _asked: dict[str, _Asked] = field(default_factory=dict)
    _hidden: dict[str, list[_Hidden]] = field(default_factory=dict)
    _waiting: dict[str, list[Any]] = field(default_factory=dict)

    def put_back(self, codec: Codec, body: Body) -> Body:
        """The conversation with all that the agent has not seen."""
        key, roles = codec.roles(body)
        if not key or not self._hidden:
            return body
        items: list[Any] = []
        said = _said(codec, body, key, roles)
        for index, digest in enumerate(_digests(codec, body, key, roles)):
            items += self._after(digest, said.get(index))
            items += body[key][index : index + 1]
        return {**body, key: items} if len(items) > len(body[key]) else body

    def _after(self, digest: str, said: str | None) -> list[Any]:
        """What was hidden after a conversation that goes on with what the assistant said."""
        hidden = () if said is None else self._hidden.get(digest, ())
        return next((found.items for found in hidden if (said or "").startswith(found.said)), [])

    def sent(self, codec: Codec, original: Body, sent: HttpCall) -> None:
        """Remember which conversation of the agent a request belongs to."""
        key, roles = codec.roles(original)
        *_, digest = _digests(codec, original, key, roles)
        self._asked.setdefault(_id(sent), _Asked(digest, 0))

    def again(
        self, codec: Codec, sent: HttpCall, reply: bytes, results: Mapping[str, str]
    ) -> HttpCall | None:
        """The request that goes on with the answers of decoys; None where that was done often enough."""
        asked = self._asked.get(_id(sent), _Asked("", 0))
        if asked.rounds >= ROUNDS:
            return None
        body = read_json(sent.body)
        key, _ = codec.roles(body)
        continued = codec.continued(body, reply, results)
        call = HttpCall(sent.path, write_json(continued))
        added = continued[key][len(body[key]) :]
        self._asked[_id(call)] = _Asked(asked.prefix, asked.rounds + 1)
        self._waiting[_id(call)] = [*self._waiting.get(_id(sent), ()), *added]
        return call

    def done(self, sent: HttpCall, said: str) -> None:
        """The agent is given an answer to a request: what went before it is hidden from then on."""
        items = self._waiting.get(_id(sent))
        asked = self._asked.get(_id(sent))
        if items and asked:
            known = self._hidden.setdefault(asked.prefix, [])
            found = _Hidden(items, _squeezed(said))
            known[:] = [found, *(one for one in known if one.said != found.said)]


def without_calls(codec: Codec, body: bytes, reply: ModelReply, names: Set[str]) -> bytes:
    """The reply without calls of these tools; with none left, the model has just ended its turn."""
    left = tuple(call for call in reply.tool_calls if call.name not in names)
    try:
        value = codec.reply_with_tool_names(read_json(body), lambda name: _DROPPED if name in names else name)
    except ValueError:
        value = None  # a stream
    if isinstance(value, dict) and left:
        return write_json(_pruned(value))
    finish = reply.finish_reason if left else "stop"
    after = reply.model_copy(update={"tool_calls": left, "finish_reason": finish})
    return codec.encode_reply(after, reply_id=f"agentmut-{digest_of(body.hex())[:16]}", stream=value is None)


def _pruned(value: Any) -> Any:
    """The value without the list items that are a dropped call."""
    if isinstance(value, dict):
        return {key: _pruned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_pruned(item) for item in value if not _is_dropped(item)]
    return value


def _is_dropped(value: Any) -> bool:
    """Whether an item is a dropped call itself, and not a list of calls somewhere in it."""
    if isinstance(value, dict):
        return any(_is_dropped(item) for item in value.values() if not isinstance(item, list))
    return bool(value == _DROPPED)


def _said(codec: Codec, body: Body, key: str, roles: Sequence[Role]) -> dict[int, str]:
    """What the assistant says from an item on, by the indexes of its items: one reply may be several."""
    own: dict[Any, str] = {}
    for text in codec.texts(body):
        if text.role is Role.ASSISTANT and text.path[0] == key:
            own[text.path[1]] = own.get(text.path[1], "") + _squeezed(text.text)
    said: dict[int, str] = {}
    for index in reversed(range(len(roles))):
        if roles[index] is Role.ASSISTANT:
            said[index] = own.get(index, "") + said.get(index + 1, "")
    return said


def _squeezed(text: str) -> str:
    """A text without white space, which agents strip and join."""
    return "".join(text.split())


def _digests(codec: Codec, body: Body, key: str, roles: Sequence[Role]) -> Iterator[str]:
    """Digests of the conversation before each item, and of all of it. Cache markers do not count."""
    spoken: dict[Any, list[str]] = {}
    for text in codec.texts(body):
        if text.path[0] == key and len(text.path) > 1:
            spoken.setdefault(text.path[1], []).append(text.text)
    digest = ""
    yield digest
    for index, role in enumerate(roles):
        digest = digest_of([digest, role.value, spoken.get(index, [])])
        yield digest


def _id(call: HttpCall) -> str:
    return digest_of([call.path, call.body.decode("utf-8", "surrogateescape")])
