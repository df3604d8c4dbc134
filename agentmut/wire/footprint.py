"""What a trial's model requests looked like, without the parts that differ from turn to turn.

Most trials of a scenario have the same footprint, so it is stored once, under its digest.
"""

from collections.abc import Iterable
from functools import cached_property

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

    def __hash__(self) -> int:  # schemas are dicts: equality decides, the hash takes what is cheap
        return hash((self.text, self.model, len(self.tools)))


class Footprint(Frozen):
    """The distinct request shapes of a trial, or the config parts read by an agent without a wire."""

    requests: tuple[RequestShape, ...] = ()
    reads: tuple[str, ...] = ()
    lost: bool = False
    """The run ended together with the process that was watching it."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest_of(self.model_dump(mode="json", exclude_defaults=True))


def footprint(exchanges: Iterable[Exchange], reads: Iterable[str] = ()) -> Footprint:
    """The footprint of a trial that made these exchanges and read these parts of its config."""
    shapes = dict.fromkeys(_shape(exchange.request) for exchange in exchanges)
    return Footprint(requests=tuple(shapes), reads=tuple(sorted(reads)))


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
    )
