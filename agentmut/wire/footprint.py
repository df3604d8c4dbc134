"""What a trial's model requests looked like, without the parts that differ from turn to turn.

Most trials of a scenario have the same footprint, so it is stored once, under its digest.
"""

from collections.abc import Iterable
from functools import cached_property

from pydantic import JsonValue

from agentmut.frozen import Frozen, digest_of
from agentmut.plain import storable
from agentmut.tools import ToolSpec
from agentmut.wire.messages import Exchange, ModelRequest, Role


class RequestShape(Frozen):
    """The fixed part of a model request: instructions, tools on offer, model and sampling."""

    text: str
    """System and user messages; what the model and the tools said is left out."""
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    tool_choice: JsonValue = None
    response_format: JsonValue = None

    def __hash__(self) -> int:  # schemas are dicts: equality decides, the hash takes what is cheap
        return hash((self.text, self.model, len(self.tools)))


class Footprint(Frozen):
    """The distinct request shapes of a trial, or the config parts read by an agent without a wire."""

    requests: tuple[RequestShape, ...] = ()
    reads: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """Live changes (faults of tools, flow, history) that took effect."""
    nodes: tuple[str, ...] = ()
    """Nodes of the flow that were entered."""
    lost: bool = False
    """The run ended together with the process that was watching it."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest_of(self.model_dump(mode="json", exclude_defaults=True))


def footprint(
    exchanges: Iterable[Exchange],
    reads: Iterable[str] = (),
    marks: Iterable[str] = (),
    nodes: Iterable[str] = (),
) -> Footprint:
    """The footprint of a trial that made these exchanges, read these parts of its config, and so on."""
    shapes = dict.fromkeys(_shape(exchange.request) for exchange in exchanges)
    reads, marks, nodes = (tuple(sorted(names)) for names in (reads, marks, nodes))
    return Footprint(requests=tuple(shapes), reads=reads, marks=marks, nodes=nodes)


def _shape(request: ModelRequest) -> RequestShape:
    text = "\n\n".join(m.text for m in request.messages if m.role in (Role.SYSTEM, Role.USER))
    return RequestShape(
        text=storable(text),
        tools=request.tools,
        model=request.model,
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=request.max_tokens,
        seed=request.seed,
        stop=request.stop,
        reasoning_effort=request.reasoning_effort,
        tool_choice=request.tool_choice,
        response_format=request.response_format,
    )
