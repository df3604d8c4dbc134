"""The request of an agent that is kept in a file, as a template of what the agent sends in every run."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentmut.doctor.moving_parts import MovingPart, Template, template_of
from agentmut.nouns import (
    SAMPLING,
    AgentConfig,
    Footprint,
    Message,
    ModelRequest,
    RequestShape,
    Role,
    ToolSpec,
)
from agentmut.project import config_of
from agentmut.wire import all_codecs

QUOTED = 40
"""Characters of what moves that are quoted."""
LEAST_IN_COMMON = 0.3
"""Share of the words of a prompt that another one must have to be the same agent's."""


class KeptRequest(NamedTuple):
    """The agent's main request, and what in it moves from run to run."""

    text: str
    """JSON of `path` and `body`, for a file that `agent.config.request` names."""
    config: AgentConfig
    moving: tuple[str, ...]
    """In words, each with its placeholder."""


def kept_request(runs: Sequence[Footprint]) -> KeptRequest | None:
    """Return the request with the longest system prompt of the first run, as a template of all `runs`.

    None where no request was seen.
    """
    known = {codec.name: codec for codec in all_codecs()}
    shapes = [shape for shape in runs[0].requests if shape.dialect in known]
    if not shapes:
        return None
    shape = max(shapes, key=lambda one: (one.system, len(one.tools)))
    others = [found for seen in runs[1:] if (found := _counterpart(shape, seen)) is not None]
    prompt = template_of(shape.instructions, [other.instructions for other in others])
    tools = [_tool(tool, others) for tool in shape.tools]
    request = _request(shape, prompt.text, [tool for tool, _ in tools])
    call = known[shape.dialect].encode_request(request)
    written = {"path": call.path, "body": json.loads(call.body)}
    moving = (
        *_placeholder_lines("the prompt", prompt.parts),
        *(
            said
            for tool, found in tools
            for said in _placeholder_lines(f"the description of {tool.name}", found.parts)
        ),
        *_shuffled(shape, others),
    )
    return KeptRequest(json.dumps(written, indent=2, ensure_ascii=False) + "\n", config_of(request), moving)


def _counterpart(shape: RequestShape, seen: Footprint) -> RequestShape | None:
    """Return the request of another run that is most like this one; None where none is of the same agent."""
    words = set(shape.instructions.split())
    shares = [
        (len(words.intersection(other.instructions.split())) / max(1, len(words)), other)
        for other in seen.requests
        if other.dialect == shape.dialect
    ]
    share, found = max(shares, key=lambda one: one[0], default=(0.0, None))
    return found if share >= LEAST_IN_COMMON else None


def _tool(tool: ToolSpec, others: Sequence[RequestShape]) -> tuple[ToolSpec, Template]:
    said = [one.description for other in others for one in other.tools if one.name == tool.name]
    found = template_of(tool.description, said)
    return tool.model_copy(update={"description": found.text}), found


def _request(shape: RequestShape, system: str, tools: Sequence[ToolSpec]) -> ModelRequest:
    messages = ((Role.SYSTEM, system), (Role.USER, shape.text[shape.system :].strip()))
    return ModelRequest(
        model=shape.model,
        messages=tuple(Message(role=role, text=text) for role, text in messages if text),
        tools=tuple(tools),
        **{name: getattr(shape, name) for name in SAMPLING},
    )


def _placeholder_lines(where: str, parts: Sequence[MovingPart]) -> Iterator[str]:
    for name, value in parts:
        flat = " ".join(value.split())
        stood = f'"{flat[:QUOTED]}{"..." * (len(flat) > QUOTED)}"' if flat else "nothing"
        yield f"{where}: {{{name}}} stands for {stood}"


def _shuffled(shape: RequestShape, others: Sequence[RequestShape]) -> Iterator[str]:
    names = [tool.name for tool in shape.tools]
    for other in others:
        there = [tool.name for tool in other.tools]
        if [name for name in names if name in there] != [name for name in there if name in names]:
            yield "the tools: they come in another order in another run"
            return
