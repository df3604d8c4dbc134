"""Whether a codec rewrites a body in what is asked for, and in nothing else."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from agentmut.conformance.codecs.codec_probe import Fault, Probe, alike, differences, parsed, written
from agentmut.conformance.codecs.codec_samples import REPLIES
from agentmut.nouns import Body, HttpCall, Message, ModelRequest, OfferedTool, Path, Role, ToolSpec
from agentmut.wire import all_places, at, with_values
from agentmut.wire.bodies import write_json

UNKNOWN = "x_unknown_to_the_dialect"
MARK = "Entirely other words."
_DECOY = ToolSpec(name="decoy_tool", description="Never call it.")


def unchanged_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield a body that differs, in order too, when nothing was to be changed."""
    body = parsed(call)
    request = probe.decoded(call, body)
    texts = {text.path: text.text for text in probe("texts", body)}
    same = {
        "with_texts": [probe("with_texts", body, found) for found in ({}, texts)],
        "with_tools": [probe("with_tools", body, probe("tools", body))],
        "with_tool_names": [probe("with_tool_names", body, str)],
    }
    for method, results in same.items():
        for found in results:
            if written(found) != written(body):
                yield Fault(method, f"with nothing to change it gives another body: {found!r:.300}")
    settings = {"name": request.model, "temperature": request.temperature, "top_p": request.top_p}
    settings |= {name: getattr(request, name) for name in ("max_tokens", "seed", "stop", "reasoning_effort")}
    settings |= {name: getattr(request, name) for name in ("tool_choice", "response_format")}
    for name, value in settings.items():
        path, found = probe("with_setting", call, body, name, value)
        if path != call.path or written(found) != written(body):
            yield Fault("with_setting", f"with {name} as it is, it gives another request: {found!r:.300}")


def text_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield texts that are not where they are said to be, that are missing, or that cannot be changed one by one."""
    body = parsed(call)
    request, texts = probe.decoded(call, body), probe("texts", body)
    for text in texts:
        if at(body, text.path) != text.text:
            yield Fault("texts", f"{text.text!r:.60} is not what stands at {text.path}")
    for message in request.messages:
        if message.text and not any(
            t.role is message.role and t.text in message.text and t.text for t in texts
        ):
            yield Fault("texts", f"there is no text {message.text!r:.60} of the {message.role}")
    for message in (found for found in request.messages if found.role is Role.TOOL):
        named = [t for t in texts if t.role is Role.TOOL and t.call_id == message.tool_call_id]
        name = next(
            (c.name for m in request.messages for c in m.tool_calls if c.id == message.tool_call_id), None
        )
        if message.tool_call_id and not named:
            yield Fault("texts", f"no result of a tool says that it answers {message.tool_call_id!r:.60}")
        elif name and not any(t.tool == name for t in named):
            yield Fault("texts", f"a result of {name!r:.60} does not say that it is this tool's")
    for text in (found for found in texts if found.text):
        yield from _marked_faults(probe, call, request, text)


def _marked_faults(probe: Probe, call: HttpCall, request: ModelRequest, text: Any) -> Iterator[Fault]:
    body = parsed(call)
    found = probe.decoded(call, probe("with_texts", body, {text.path: MARK}), "with_texts")
    changed = [
        (before, after)
        for before, after in zip(request.messages, found.messages, strict=False)
        if before != after
    ]
    count = len(found.messages) == len(request.messages)
    if not (count and len(changed) == 1 and MARK in changed[0][1].text and changed[0][0].role is text.role):
        yield Fault("with_texts", f"a change of {text.path} does not change that text alone")
    elif found.model_copy(update={"messages": request.messages}) != request:
        yield Fault("with_texts", f"a change of {text.path} changes more than messages")
    emptied = probe.decoded(call, probe("with_texts", body, {text.path: ""}), "with_texts")
    remaining = "\n".join(message.text for message in emptied.messages)
    if "\n".join(m.text for m in request.messages).count(text.text) <= remaining.count(text.text):
        yield Fault("with_texts", f"the text of {text.path} cannot be emptied")


def tool_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield tools that cannot be told, changed, added and taken out."""
    body = parsed(call)
    request, offered = probe.decoded(call, body), list(probe("tools", body))
    specs = [tool.spec for tool in offered if tool.spec]
    if tuple(specs) != request.tools:
        yield Fault("tools", f"they are {specs!r:.200}, but decode_request finds {request.tools!r:.200}")
    for place, tool in enumerate(offered):
        for what, spec in _variants(tool.spec):
            changed = [*offered[:place], OfferedTool(spec, tool.raw), *offered[place + 1 :]]
            yield from _offer_faults(probe, call, changed, what)
    yield from _offer_faults(probe, call, [*offered, OfferedTool(_DECOY)], "a tool that was added")
    yield from _offer_faults(probe, call, offered[::-1], "another order")
    if offered:
        none = probe("with_tools", body, [])
        left = probe.decoded(call, none, "with_tools")
        if left.tools or left.tool_choice is not None or "tools" in none:
            yield Fault("with_tools", "with no tool left, tools or a tool choice are still there")


def _variants(spec: ToolSpec | None) -> Iterator[tuple[str, ToolSpec]]:
    if spec is None:
        return
    yield "another name", spec.model_copy(update={"name": f"{spec.name}_2"})
    yield "another description", spec.model_copy(update={"description": MARK})
    yield "no description", spec.model_copy(update={"description": ""})
    schema: Any = dict(spec.parameters)
    properties = schema.get("properties") or {}
    more = {**properties, "more": {"type": "string", "description": MARK}}
    yield "another parameter", spec.model_copy(update={"parameters": {**schema, "properties": more}})
    for name, found in properties.items():
        if isinstance(found, dict) and found.get("default") == 1:  # which Python takes for true
            truth = {**properties, name: {**found, "default": True}}
            yield "true for 1", spec.model_copy(update={"parameters": {**schema, "properties": truth}})


def _offer_faults(
    probe: Probe, call: HttpCall, tools: list[OfferedTool], offer_named: str
) -> Iterator[Fault]:
    body = parsed(call)
    request = probe.decoded(call, body)
    found = probe.decoded(call, probe("with_tools", body, tools), "with_tools")
    wanted = tuple(tool.spec for tool in tools if tool.spec)
    if difference := differences(found, request.model_copy(update={"tools": wanted})):
        yield Fault("with_tools", f"with {offer_named}: {difference}")


def name_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield names in the conversation and in tool choices that are not renamed, and other parts that change."""
    body = parsed(call)
    there = probe("with_tool_names", body, _renamed)
    back = probe("with_tool_names", there, lambda name: name.removeprefix("new_"))
    if written(back) != written(body):
        yield Fault("with_tool_names", "names mapped there and back are another body")
    if written([tool.raw for tool in probe("tools", there)]) != written(
        [t.raw for t in probe("tools", body)]
    ):
        yield Fault("with_tool_names", "it changes the tools on offer, which with_tools is for")
    request = probe.decoded(call, body)
    calls = [
        tuple(c.model_copy(update={"name": _renamed(c.name)}) for c in m.tool_calls) for m in request.messages
    ]
    messages = [m.model_copy(update={"tool_calls": c}) for m, c in zip(request.messages, calls, strict=True)]
    wanted = {"messages": tuple(messages), "tool_choice": _choice(request.tool_choice)}
    if difference := differences(
        probe.decoded(call, there, "with_tool_names"), alike(request.model_copy(update=wanted))
    ):
        yield Fault("with_tool_names", difference)
    for text in probe("texts", there):
        if text.role is Role.TOOL and text.tool and not text.tool.startswith("new_"):
            yield Fault("with_tool_names", f"a result of a tool still names {text.tool!r:.60}")


def _choice(choice: Any) -> Any:
    if isinstance(choice, dict) and isinstance(choice.get("function"), dict) and "name" in choice["function"]:
        return {**choice, "function": {**choice["function"], "name": _renamed(choice["function"]["name"])}}
    return choice


def role_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield the speakers in a request that differ from those of the conversation."""
    body = parsed(call)
    key, roles = probe("roles", body)
    if bool(key) != bool(roles) or (key and len(body[key]) != len(roles)):
        yield Fault("roles", f"there are {len(roles)} speakers for the items of {key!r:.40}")
    elif key:
        expected = _turns(message.role for message in probe.decoded(call, body).messages)
        if (found := _turns(roles)) != expected:
            yield Fault("roles", f"they are {found}, but decode_request finds {expected}")


def _turns(roles: Any) -> list[Role]:
    return [role for role, _ in groupby(role for role in roles if role is not Role.SYSTEM)]


def continued_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield a conversation that does not go on with a reply, plain or streamed, and the results of its calls."""
    body = parsed(call)
    before = probe.decoded(call, body)
    for name in ("a reply that calls", "a reply with parallel calls"):
        reply = REPLIES[name]
        results = {made.id: f"result of {made.name}" for made in reply.tool_calls}
        results_of_calls = [
            Message(role=Role.TOOL, text=text, tool_call_id=id_) for id_, text in results.items()
        ]
        answer = Message(role=Role.ASSISTANT, text=reply.text, tool_calls=reply.tool_calls)
        expected = alike(
            before.model_copy(update={"messages": (*before.messages, answer, *results_of_calls)})
        )
        for stream in (False, True):
            raw = probe("encode_reply", reply, reply_id="r-1", stream=stream)
            found = probe.decoded(call, probe("continued", body, raw, results), "continued")
            if difference := differences(found, expected):
                how = "streamed" if stream else "plain"
                yield Fault("continued", f"on {name}, {how}: {difference}")


def unknown_faults(probe: Probe, call: HttpCall) -> Iterator[Fault]:
    """Yield fields that a codec does not know, and drops."""
    body = _planted(probe, parsed(call))
    count = written(body).count(UNKNOWN)
    texts, tools = probe("texts", body), list(probe("tools", body))
    first = [OfferedTool(t.spec and t.spec.model_copy(update={"name": "other"}), t.raw) for t in tools[:1]]
    changed = {
        "with_texts": probe("with_texts", body, {text.path: MARK for text in texts}),
        "with_tools": probe("with_tools", body, [*first, *tools[1:]]),
        "with_tool_names": probe("with_tool_names", body, _renamed),
        "with_setting": probe("with_setting", call, body, "temperature", 0.75)[1],
        "continued": probe("continued", body, _reply(probe), {}),
    }
    for method, found in changed.items():
        if written(found).count(UNKNOWN) != count:
            yield Fault("unknown fields", f"{method}() drops them, or adds some")
    if difference := differences(probe.decoded(call, body), probe.decoded(call, parsed(call))):
        yield Fault("unknown fields", f"decode_request() reads another request with them: {difference}")


def _reply(probe: Probe) -> bytes:
    body: bytes = probe("encode_reply", REPLIES["a reply in words"], reply_id="r-1", stream=False)
    return body


def _planted(probe: Probe, body: Body) -> Body:
    """Return the body with an unknown field in itself, in each item of its conversation, and in each
    entry of a tool.
    """
    key, _ = probe("roles", body)
    entries = {id(tool.raw) for tool in probe("tools", body)}
    unknown = {UNKNOWN: {"b": 1, "a": [True, None]}}
    found: list[Path] = [(key, index) for index in range(len(body[key]) if key else 0)]
    found += [path for path in all_places(body) if id(at(body, path)) in entries]
    return {**unknown, **with_values(body, {path: {**at(body, path), **unknown} for path in found})}


def setting_faults(probe: Probe, call: HttpCall, name: str, value: Any, known: bool) -> Iterator[Fault]:
    """Yield a setting that cannot be set and taken out again, or that changes more than itself."""
    check, body = f"with_setting of {name}", parsed(call)
    before = probe.decoded(call, body)
    path, changed = probe("with_setting", call, body, name, value, check=check)
    if not known:
        if path != call.path or written(changed) != written(body):
            yield Fault(check, "requests with it cannot be read, but it changes them")
        return
    field = "model" if name == "name" else name
    set_to = probe.decoded(HttpCall(path, b""), changed, check)
    if difference := differences(set_to, before.model_copy(update={field: value})):
        yield Fault(check, f"with {value!r}: {difference}")
    if name == "name":
        return
    there = HttpCall(path, write_json(changed))
    gone_path, gone = probe("with_setting", there, changed, name, () if name == "stop" else None, check=check)
    left = probe.decoded(HttpCall(gone_path, b""), gone, check)
    if difference := differences(left, before.model_copy(update={field: () if name == "stop" else None})):
        yield Fault(check, f"taken out: {difference}")


def _renamed(name: str) -> str:
    return f"new_{name}"
