"""The relation of two stages of a run: if the first stage is right, the last must be right."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import AgentmutError, arguments
from agentmut.judging import build
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    Check,
    EvaluatorSpec,
    Expectation,
    Family,
    Flow,
    FollowUp,
    Pair,
    Scenario,
    Source,
    Step,
)
from agentmut.relations.base import check, run, source, stated
from agentmut.seams import Evaluator, HasExampleArgument, RelationExample

_STAGE = "the name of a node or a tool, or the number of a turn, from 1"


class Pipeline(HasExampleArgument):
    """`composition.pipeline: {first: STAGE, right: {EVALUATOR: ARGUMENT}}`: a right result stays right to the end.

    A stage is a node of the agent's graph, a tool, or a turn by its number. Its result is the last output of it in
    the run: what the node's model said, what the tool returned, what the turn was answered. Where `right` holds of the
    first stage's result, the last stage's must pass `then`, which is `right` itself when left out; `last` is the stage
    judged, the run's answer when left out. A run without a result of the first stage, or with a wrong one, is not the
    pipeline's fault and says nothing. A run without a result of the last stage violates the relation.

    It looks at the source run alone, so that stored traces are judged at no cost.
    """

    id = "composition.pipeline"
    version = 1
    family = Family.COMPOSITION
    expectation = Expectation.PREDICATE
    why = "A result that was right at an earlier stage is lost or spoilt on the way to the answer."
    example_argument: ClassVar[JsonValue] = {"first": "triage", "right": {"contains": "billing"}}

    def __init__(self, argument: JsonValue = None) -> None:
        given = arguments.mapping(argument, ("first", "right"), ("last", "then"))
        self.first = _stage(given["first"], "first")
        self.last = _stage(given["last"], "last") if given.get("last") is not None else None
        if self.first == self.last:
            raise ValueError(f"first and last are the same stage, {self.first!r}")
        self.right = _evaluator(given["right"], "right")
        self.then = _evaluator(given.get("then", given["right"]), "then")

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not fit: the agent has no such stage. An undescribed graph is taken on trust."""
        stages = [stage for stage in (self.first, self.last) if stage is not None]
        return next((lack for stage in stages if (lack := _missing(stage, scenario, config))), "")

    def follow_up(self, source: Source) -> FollowUp | None:
        """Run nothing: the relation judges the source run alone."""
        return FollowUp(description=f"the result of {_named(self.first)} beside that of {_named(self.last)}")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether a right result of the first stage was kept; None without a right result."""
        begun = _result(pair.source, self.first)
        if begun is None or not self.right.evaluate(pair.scenario, stated([begun])).passed:
            return None
        was_right, last = f"{_named(self.first)} was right", _named(self.last)
        ended = _result(pair.source, self.last)
        if ended is None:
            return check(self.id, [f"{was_right}, but {last} has no result"], "")
        judged = self.then.evaluate(pair.scenario, stated([ended]))
        faults = [] if judged.passed else [f"{was_right}, but {last}: {judged.reason}"]
        return check(self.id, faults, f"{was_right}, and so is {last}")

    def examples(self) -> Iterable[RelationExample]:
        """Yield a triage whose finding is in the answer, and a triage whose finding is not."""
        triage = Step(action=Action.REASON, node="triage", output="billing")
        kept = source("I was charged twice.", answer=run("This is a billing matter.", steps=[triage]))
        lost = source("I was charged twice.", answer=run("Restart the router.", steps=[triage]))
        return RelationExample(kept, (), holds=True), RelationExample(lost, (), holds=False)


def _stage(value: JsonValue, key: str) -> str | int:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError(f"{key}: expects {_STAGE}, got {value!r}")


def _evaluator(value: JsonValue, key: str) -> Evaluator:
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(
            f"{key}: expects one evaluator with its argument, as {{contains: billing}}, got {value!r}"
        )
    ((name, argument),) = value.items()
    try:
        return build(EvaluatorSpec(name=name, argument=argument))
    except AgentmutError as error:
        raise ValueError(f"{key}: {error}") from error


def _missing(stage: str | int, scenario: Scenario, config: AgentConfig) -> str:
    if isinstance(stage, int):
        return f"it has no turn {stage}" if stage > len(scenario.turns) else ""
    nodes = Flow.from_orchestration(config.orchestration).nodes
    known = {*nodes, *config.tool_names, *(tool.own_name for tool in config.tools)}
    return f"the agent has no node or tool {stage!r}" if nodes and stage not in known else ""


def _result(trace: AgentTrace, stage: str | int | None) -> JsonValue:
    if stage is None:
        return trace.output
    if isinstance(stage, int):
        return trace.outputs[stage - 1] if stage <= len(trace.outputs) else None
    found = (step.output for step in reversed(trace.steps) if _is_of(step, stage) and step.error is None)
    return next((output for output in found if output not in (None, "")), None)


def _is_of(step: Step, stage: str) -> bool:
    """Return whether a step belongs to a node, to a node inside it, or is a call of a tool."""
    node = step.node or ""
    return step.tool == stage or (
        step.action is not Action.CALL_TOOL and stage in (node, node.partition("/")[0])
    )


def _named(stage: str | int | None) -> str:
    if stage is None:
        return "the answer"
    return f"turn {stage}" if isinstance(stage, int) else stage
