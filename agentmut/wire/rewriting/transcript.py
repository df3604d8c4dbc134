"""Changes of the agent's own run so far, in a request."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from agentmut.mutation import OMITTED
from agentmut.nouns import Body, Codec, Path, Role, Text, Transcript
from agentmut.wire.rewriting.history import turns

_REMOVED = "[earlier message removed]"
_SUMMARY_CHARACTERS = 80
_BLANKS: dict[str, Callable[[Any], Any]] = {
    "arguments": lambda value: "{}" if isinstance(value, str) else {},
    "input": lambda value: {},
    "args": lambda value: {},
}
"""What stands in the place of a call's arguments, by the key that a dialect has for them."""
_CALLS = frozenset({"function_call", "tool_use"})
_HOLDERS = frozenset({"function", "functionCall", "function_call", "toolUse"})
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
_OPAQUE = frozenset(
    {"reasoning_content", "reasoning_details", "reasoningContent", "thought_signature", "thoughtSignature"}
)


def retold(codec: Codec, body: Body, kind: Transcript, stays: Callable[[str], bool]) -> Body:
    """Return the request body with its conversation changed by a fault of that kind.

    `stays` tells of a text whether it is an instruction, also where a user says it. The same body where the kind
    changes nothing.
    """
    key, roles = codec.roles(body)
    if not key:
        return body
    texts = tuple(codec.texts(body))
    told = _with_texts(codec, body, key, roles, texts, kind, stays)
    if told is not None:
        return told
    makers: dict[Transcript, Callable[[], list[Any]]] = {
        Transcript.ARGUMENTS_BLANKED: lambda: [_blank(item) for item in body[key]],
        Transcript.REASONING_STRIPPED: lambda: [
            item for item in map(_without_thoughts, body[key]) if item is not None
        ],
        Transcript.QUESTION_LOST: lambda: _without(body[key], frozenset(_last_answer(roles))),
        Transcript.TURN_TWICE: lambda: [*body[key], *(body[key][-1:] if _is_asked(roles) else ())],
    }
    if kind in makers:
        return {**body, key: makers[kind]()}
    return _earlier_changed(codec, body, key, roles, texts, kind)


def _is_asked(roles: Sequence[Role]) -> bool:
    return bool(roles) and roles[-1] is Role.USER


def _without(items: Sequence[Any], gone: Container[int]) -> list[Any]:
    return [item for index, item in enumerate(items) if index not in gone]


def _with_texts(
    codec: Codec,
    body: Body,
    key: str,
    roles: Sequence[Role],
    texts: Sequence[Text],
    kind: Transcript,
    stays: Callable[[str], bool],
) -> Body | None:
    """Return the body with other texts; None for kinds that change more than texts."""
    makers: dict[Transcript, Callable[[], Iterable[tuple[Path, str]]]] = {
        Transcript.FIRST_TURN_LOST: lambda: _first_lost(texts, key, stays),
        Transcript.RULES_LOST: lambda: ((text.path, "") for text in texts if text.role is Role.SYSTEM),
        Transcript.RESULTS_OMITTED: lambda: _omitted(texts, key, roles),
        Transcript.RESULTS_SWAPPED: lambda: _swapped(texts),
    }
    if kind not in makers:
        return None
    begun = any(role in (Role.ASSISTANT, Role.TOOL) for role in roles)
    changed = dict(makers[kind]()) if begun else {}
    return codec.with_texts(body, changed) if changed else body


def _first_lost(texts: Sequence[Text], key: str, stays: Callable[[str], bool]) -> Iterator[tuple[Path, str]]:
    said = [text for text in texts if text.path[0] == key and text.role is Role.USER and not stays(text.text)]
    yield from ((text.path, _REMOVED) for text in said if text.path[1] == said[0].path[1])


def _omitted(texts: Sequence[Text], key: str, roles: Sequence[Role]) -> Iterator[tuple[Path, str]]:
    """Yield the results before the last reply of the model."""
    last = max((index for index, role in enumerate(roles) if role is Role.ASSISTANT), default=0)
    for text in texts:
        at = text.path[1] if text.path[0] == key and len(text.path) > 1 else None
        if text.role is Role.TOOL and isinstance(at, int) and at < last and text.text:
            yield text.path, OMITTED


def _swapped(texts: Sequence[Text]) -> Iterator[tuple[Path, str]]:
    """Yield the results of calls made together, each with the text of the next result."""
    for is_result, group in groupby(texts, lambda text: text.role is Role.TOOL):
        results = list(group) if is_result else []
        if len({text.call_id for text in results}) > 1:
            said = [text.text for text in results]
            pairs = zip(results, [*said[1:], said[0]], strict=True)
            yield from ((text.path, other) for text, other in pairs)


def _blank(value: Any, holder: str = "") -> Any:
    """Return an item of a conversation with blank arguments in its calls."""
    if isinstance(value, list):
        return [_blank(item, holder) for item in value]
    if not isinstance(value, dict):
        return value
    is_call = holder in _HOLDERS or value.get("type") in _CALLS
    return {
        key: _BLANKS[key](item) if is_call and key in _BLANKS else _blank(item, key)
        for key, item in value.items()
    }


def _without_thoughts(value: Any) -> Any:
    """Return an item of a conversation without thoughts; None for an item that is a thought."""
    if isinstance(value, list):
        return [item for item in map(_without_thoughts, value) if item is not None]
    if not isinstance(value, dict):
        return value
    if value.get("type") in _THOUGHTS or value.keys() & {"reasoningContent"} == value.keys() != set():
        return None
    return {key: _without_thoughts(item) for key, item in value.items() if key not in _OPAQUE}


def _last_answer(roles: Sequence[Role]) -> Iterator[int]:
    """Yield the items that the agent said last before the user's last turn."""
    index = turns(roles).last - 1
    while index > 0 and roles[index] in (Role.ASSISTANT, Role.SYSTEM):
        if roles[index] is Role.ASSISTANT:
            yield index
        index -= 1


def _earlier_changed(
    codec: Codec, body: Body, key: str, roles: Sequence[Role], texts: Sequence[Text], kind: Transcript
) -> Body:
    """Return the body with its earlier turns reduced to the user's texts, or to a summary in the last text."""
    found = turns(roles)
    if not found.earlier:
        return body
    summarised = kind is Transcript.SUMMARISED
    earlier = {index for turn in found.earlier for index in turn}
    gone = {i for i in earlier if roles[i] is not Role.SYSTEM and (summarised or roles[i] is not Role.USER)}
    if summarised:
        body = codec.with_texts(body, dict(_summary(texts, key, earlier, found.last)))
    return {**body, key: _without(body[key], gone)}


def _summary(texts: Sequence[Text], key: str, earlier: set[int], last: int) -> Iterator[tuple[Path, str]]:
    said = [text for text in texts if text.path[0] == key and text.role is Role.USER]
    before = "; ".join(text.text[:_SUMMARY_CHARACTERS] for text in said if text.path[1] in earlier)
    for text in said:
        if text.path[1] == last:
            yield text.path, f"[Earlier: {before}]\n\n{text.text}"
            return
