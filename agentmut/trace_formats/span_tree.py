"""A trial from the spans of one run: agents, model calls and tools as a tree, whatever recorded them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

from pydantic import JsonValue

from agentmut._base import jsonable
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    ForeignTrial,
    ModelConfig,
    RecordedScore,
    RecordPlace,
    Step,
    ToolSpec,
    Usage,
)
from agentmut.trace_formats.conversation import Call, arguments_of

NO_MESSAGES = (
    "its messages were not recorded, so that nobody can judge it; have the instrumentation keep content"
)
_CONTENT = (
    "input.",
    "output.",
    "llm.",
    "gen_ai.input",
    "gen_ai.output",
    "gen_ai.prompt",
    "gen_ai.completion",
)
_LONGEST_FIELD = 500
"""Characters of a field by which scenarios may be told apart; longer ones are content."""


class Kind(StrEnum):
    """The kind of a span."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    OTHER = "other"


@dataclass(slots=True)
class SpanFacts:
    """The facts of one span. Times are in seconds since the epoch."""

    id: str
    parent: str
    name: str
    kind: Kind
    started: float
    ended: float
    place: RecordPlace
    error: str | None = None
    node: str | None = None
    """The name of the agent, or of the node of a graph."""
    prompt: str = ""
    users: tuple[JsonValue, ...] = ()
    """What the user has said before this model call or agent."""
    results: Mapping[str, JsonValue] = field(default_factory=dict)
    """The results of tools that a model call was given, by the id of the tool's call."""
    answer: JsonValue = None
    """What a model or an agent answered, or what a tool returned."""
    calls: tuple[Call, ...] = ()
    """The tool calls that a model call asked for."""
    model: ModelConfig = field(default_factory=ModelConfig)
    usage: Usage = field(default_factory=Usage)
    usd: float | None = None
    tools: tuple[ToolSpec, ...] = ()
    tool: str | None = None
    arguments: Any = None
    call_id: str | None = None
    unended: bool = False
    """Whether the record has no end of the span, since it was still at work when the record was written."""
    scores: Mapping[str, RecordedScore] = field(default_factory=dict)
    fields: Mapping[str, JsonValue] = field(default_factory=dict)


def trial_of_spans(spans: Sequence[SpanFacts]) -> ForeignTrial | None:
    """Return the trial of the spans of one run; None where they show no model call, no tool and no agent."""
    tree = _Tree(spans)
    if not any(span.kind is not Kind.OTHER for span in spans):
        return None
    trace = tree.trace()
    said = tree.turns
    return ForeignTrial(
        scenario=str(said[0]) or tree.root.name,
        turns=said,
        trace=trace,
        place=tree.root.place,
        config=tree.config(),
        scores={name: score for span in tree.spans for name, score in span.scores.items()},
        fields=tree.fields(),
        started=tree.root.started,
        no_evidence=tree.why_no_evidence,
        unfinished=tree.unfinished,
    )


class _Tree:
    """The spans of a run in the order of their start, with what their parents say about them."""

    def __init__(self, spans: Sequence[SpanFacts]) -> None:
        self.spans = sorted(spans, key=lambda span: (span.started, -span.ended))
        self._by_id = {span.id: span for span in self.spans}
        self.root = next((one for one in self.spans if one.parent not in self._by_id), self.spans[0])
        self.models = [one for one in self.spans if one.kind is Kind.MODEL and not self._within_model(one)]
        self._asked = [one for one in self.models if self.node_of(one) == self.node_of(self.models[0])]
        self._known = len(self._asked[0].users) if self._asked else 0
        """What the user had said when the first model was asked: all but the last of it is history."""
        self.turns = self._turns()

    def _ancestors(self, span: SpanFacts) -> Iterator[SpanFacts]:
        seen = {span.id}
        while (above := self._by_id.get(span.parent)) is not None and above.id not in seen:
            seen.add(above.id)
            yield above
            span = above

    def _within_model(self, span: SpanFacts) -> bool:
        """Return whether an SDK's span is inside a framework's span of the same model call."""
        return any(above.kind is Kind.MODEL for above in self._ancestors(span))

    def node_of(self, span: SpanFacts) -> str | None:
        """Return the agent, or node of a graph, in which a span is."""
        return span.node or next((above.node for above in self._ancestors(span) if above.node), None)

    def _turns(self) -> tuple[JsonValue, ...]:
        longest: tuple[JsonValue, ...] = max((one.users for one in self._asked), key=len, default=())
        said = longest[max(self._known - 1, 0) :]
        around = next((one.users for one in self.spans if one.kind is not Kind.MODEL and one.users), ())
        return said or around or ("",)

    def _turn_of(self, model: SpanFacts, before: int) -> int:
        """Return the turn of a model call: new words of the user begin a turn, and calls of sub-agents stay in it."""
        return max(before, len(model.users) - self._known) if model in self._asked else before

    def trace(self) -> AgentTrace:
        """Return what the run did."""
        steps, answers = _Steps(self).made()
        root = self.root
        if not answers:
            last = next((s.answer for s in (root, *self.spans) if s.kind is not Kind.TOOL and s.answer), None)
            answers = {0: last} if last is not None else {}
            steps += [Step(action=Action.RESPOND, output=text) for text in answers.values()]
        return AgentTrace(
            steps=tuple(steps),
            outputs=tuple(answers[turn] for turn in sorted(answers)),
            error=root.error,
            seconds=max(max(span.ended for span in self.spans) - root.started, 0.0),
            edges=tuple(dict.fromkeys(_edges([step.node for step in steps if step.node]))),
        )

    @property
    def why_no_evidence(self) -> str:
        """Return why the run cannot be judged; empty for a run that can be, or was."""
        silent = self.models and not any(one.users or one.answer or one.calls for one in self.models)
        judged = any(span.scores for span in self.spans)
        return NO_MESSAGES if silent and not judged else ""

    @property
    def unfinished(self) -> bool:
        """Return whether no span shows the whole run: the first span ends, and is written, after all others."""
        return all(span.parent or span.unended for span in self.spans)

    def config(self) -> AgentConfig:
        """Return the agent that the user speaks with, with the tools of all."""
        first = self._asked[0] if self._asked else self.root
        tools = {tool.name: tool for span in self.spans for tool in span.tools}
        prompt = first.prompt or next((span.prompt for span in self.spans if span.prompt), "")
        return AgentConfig(prompt=prompt, tools=tuple(tools.values()), model=first.model)

    def fields(self) -> dict[str, JsonValue]:
        """Return the root's fields, without content."""
        return {
            name: value
            for name, value in self.root.fields.items()
            if not name.startswith(_CONTENT) and (not isinstance(value, str) or len(value) <= _LONGEST_FIELD)
        }


class _Steps:
    """Steps in their order: a tool's span and the call that a model asked for are one step."""

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        self._began = tree.root.started
        self._open: list[tuple[SpanFacts, Call, int]] = []
        """Calls that a model has asked for and no span has been seen of."""
        self._turn = 0

    def made(self) -> tuple[list[Step], dict[int, JsonValue]]:
        """Return the steps, and the answer to each turn."""
        steps: list[Step] = []
        answers: dict[int, JsonValue] = {}
        models = {one.id for one in self._tree.models}
        for span in self._tree.spans:
            if span.id in models:
                steps += self._calls_without_span(span)
                self._turn = self._tree._turn_of(span, self._turn)
                steps.append(self._reasoning(span))
                self._open += [(span, call, self._turn) for call in span.calls]
                if not span.calls and span.answer not in (None, ""):
                    answers[self._turn] = span.answer
            elif span.kind is Kind.TOOL:
                steps.append(self._call(span))
        steps += [self._without_span(*one, None) for one in self._open]
        ended = max((step.started + step.seconds for step in steps), default=0.0)
        steps += [
            Step(action=Action.RESPOND, turn=turn, output=answer, started=ended)
            for turn, answer in answers.items()
        ]
        return sorted(steps, key=lambda step: step.turn), answers

    def _calls_without_span(self, span: SpanFacts) -> Iterator[Step]:
        """Yield calls without a span, whose results stand in the input of a later model call."""
        for one in list(self._open):
            if one[1].id is not None and one[1].id in span.results:
                self._open.remove(one)
                yield self._without_span(*one, span.results[one[1].id])

    def _reasoning(self, span: SpanFacts) -> Step:
        return Step(
            action=Action.REASON,
            turn=self._turn,
            output=span.answer,
            error=span.error,
            model=span.model.name or None,
            usage=span.usage,
            usd=span.usd,
            node=self._tree.node_of(span),
            **self._times(span),
        )

    def _call(self, span: SpanFacts) -> Step:
        asked = self._asked_for(span)
        arguments = arguments_of(span.arguments) if span.arguments is not None else None
        return Step(
            action=Action.CALL_TOOL,
            turn=self._turn,
            tool=span.tool or span.name,
            arguments=arguments_of(asked.arguments) if asked and arguments is None else arguments,
            output=jsonable(span.answer),
            error=span.error,
            call_id=span.call_id or (asked.id if asked else None),
            node=self._tree.node_of(span),
            **self._times(span),
        )

    def _asked_for(self, span: SpanFacts) -> Call | None:
        """Return the call that a tool's span carries out: by its id, else by tool and arguments, else by tool alone."""
        named = [one for one in self._open if span.call_id and one[1].id == span.call_id]
        alike = [one for one in self._open if not span.call_id and one[1].tool == span.tool]
        if alike and span.arguments is not None:
            given = arguments_of(span.arguments)
            alike.sort(key=lambda one: arguments_of(one[1].arguments) != given)
        for one in (*named, *alike):
            self._open.remove(one)
            return one[1]
        return None

    def _without_span(self, model: SpanFacts, call: Call, turn: int, result: JsonValue) -> Step:
        return Step(
            action=Action.CALL_TOOL,
            turn=turn,
            tool=call.tool,
            arguments=arguments_of(call.arguments),
            output=result,
            call_id=call.id,
            node=self._tree.node_of(model),
            started=max(model.ended - self._began, 0.0),
        )

    def _times(self, span: SpanFacts) -> dict[str, float]:
        return {
            "started": max(span.started - self._began, 0.0),
            "seconds": max(span.ended - span.started, 0.0),
        }


def _edges(nodes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the edges that the run took, from one agent or node of a graph to the next."""
    for one, other in pairwise(nodes):
        if one != other:
            yield (one, other)
