"""The shape of a trial's model requests, without the parts that differ from turn to turn.

Most trials of a scenario have the same footprint, so it is stored once, under its digest.
"""

from collections.abc import Iterable
from functools import cached_property, lru_cache

from pydantic import JsonValue

from agentmut._base import Frozen, digest_of, storable
from agentmut.nouns.config import SAMPLING
from agentmut.nouns.instruction_reads import KnownLines, known_lines, read_of
from agentmut.nouns.messages import Exchange, Role
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.tools_as_functions import listed_tools, told_tools


class RequestShape(Frozen):
    """The fixed part of a model request: instructions, tools on offer, model and sampling."""

    text: str
    """System messages, then those of the user; what the model and the tools said is left out.

    Where the agent reads instructions in files, what its tools have read of these files stands at the end.
    """
    system: int = 0
    """So many characters of the text, at its start, are system messages."""
    tools: tuple[ToolSpec, ...] = ()
    """The tools that the system message describes, where the request sends none."""
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    tool_choice: JsonValue = None
    response_format: JsonValue = None
    stream: bool = False
    dialect: str = ""
    host: str = ""

    @property
    def instructions(self) -> str:
        """Return the system messages."""
        return self.text[: self.system]

    @cached_property
    def prompt_digest(self) -> str:
        """Return a digest of the system prompt, by which prompts are told apart."""
        return digest_of(self.instructions)

    def __hash__(self) -> int:  # schemas are dicts: equality decides, the hash takes what is cheap
        return hash((self.text, self.model, len(self.tools)))


class Footprint(Frozen):
    """The distinct request shapes of a trial, or the config parts read by an agent without a wire."""

    requests: tuple[RequestShape, ...] = ()
    order: tuple[int, ...] = ()
    """By exchange, in the order in which they were sent: which of `requests` it was."""
    reads: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """Live changes (faults of tools, flow, history) that took effect."""
    nodes: tuple[str, ...] = ()
    """Nodes of the flow that were entered."""
    strangers: tuple[str, ...] = ()
    """Threads that no trial can be told of, and that sent model requests during the trial: they are older than it."""
    unread: tuple[str, ...] = ()
    """What reached a proxy of agentmut and could not be read, in phrases, where a run has no model requests."""
    lost: bool = False
    """The run ended together with the process that was watching it."""

    @property
    def exchanges(self) -> tuple[int, ...]:
        """Return `order`; where that is not known, as if each request had been sent once."""
        return self.order or tuple(range(len(self.requests)))

    def unordered(self) -> "Footprint":
        """Return the footprint without the order and number of equal requests."""
        return self.model_copy(update={"order": ()}) if self.order else self

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        return digest_of(self.model_dump(mode="json", exclude_defaults=True))


def footprint(
    exchanges: Iterable[Exchange],
    reads: Iterable[str] = (),
    marks: Iterable[str] = (),
    nodes: Iterable[str] = (),
    files: Iterable[str] = (),
    unread: Iterable[str] = (),
) -> Footprint:
    """Return the footprint of a trial from its exchanges, the parts of its config that it read, and its marks.

    `files` are the texts of files with instructions that the agent reads itself. `unread` counts only where there is
    no exchange.
    """
    shapes: dict[RequestShape, int] = {}
    known = known_lines(files)
    sent = sorted(exchanges, key=lambda exchange: exchange.started)
    order = tuple([shapes.setdefault(_shape(exchange, known), len(shapes)) for exchange in sent])
    passed = () if shapes else tuple(unread)
    return _same_footprint(
        tuple(shapes), order, tuple(sorted(reads)), tuple(sorted(marks)), tuple(sorted(nodes)), passed
    )


@lru_cache(maxsize=256)  # most trials of a scenario have the same one, and its digest takes long
def _same_footprint(
    requests: tuple[RequestShape, ...],
    order: tuple[int, ...],
    reads: tuple[str, ...],
    marks: tuple[str, ...],
    nodes: tuple[str, ...],
    unread: tuple[str, ...],
) -> Footprint:
    return Footprint(requests=requests, order=order, reads=reads, marks=marks, nodes=nodes, unread=unread)


def _shape(exchange: Exchange, known: KnownLines) -> RequestShape:
    request = exchange.request
    system = storable(request.system_text)
    said = (storable(m.text) for m in request.messages if m.role is Role.USER)
    results = (m.text for m in request.messages if m.role is Role.TOOL) if known else ()
    read = dict.fromkeys(storable(read_of(text, known)) for text in results)
    return RequestShape(
        text="\n\n".join(filter(None, (system, *said, *read))),
        system=len(system),
        tools=request.tools or _tools_in_words(request.system_text),
        model=request.model,
        stream=request.stream,
        dialect=exchange.dialect,
        host=exchange.host,
        **{name: getattr(request, name) for name in SAMPLING},
    )


def _tools_in_words(system: str) -> tuple[ToolSpec, ...]:
    """Return the tools that a system message describes: as functions, or one after another."""
    return told_tools(system) or listed_tools(system)
