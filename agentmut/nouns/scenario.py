"""A scenario: the input of the agent, and the evaluators of its answer."""

from typing import Any, Self

from pydantic import Field, JsonValue, model_serializer, model_validator

from agentmut._base import Frozen, digest_of
from agentmut.nouns.config import Document
from agentmut.nouns.trace import AgentTrace


class ToolDouble(Frozen):
    """A stand-in for a tool, so that thousands of broken runs never touch a real system.

    Exactly one of `returns` (a fixed result), `raises` (an error message) and `python`
    (`module:function`, called with the tool's arguments) is given.
    """

    returns: JsonValue = Field(default=None, description="The result of every call.")
    raises: str | None = Field(default=None, description="The message of the error that every call raises.")
    python: str | None = Field(
        default=None,
        description="`module:function`, called with the tool's arguments; it returns the result.",
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("a tool double needs exactly one of returns, raises, python")
        return self

    @model_serializer
    def _only_what_was_given(self) -> dict[str, Any]:  # `returns: null` must survive a round trip
        return {name: getattr(self, name) for name in sorted(self.model_fields_set)}


class EvaluatorSpec(Frozen):
    """An evaluator's name and its argument, as written in a scenario file: `contains: "refund"`."""

    name: str
    argument: JsonValue = None


class Scenario(Frozen):
    """One case of a suite (Definition 3.4 of the AgentAssay paper). All evaluators must hold."""

    name: str
    turns: tuple[JsonValue, ...] = Field(min_length=1)
    """What the user says, one entry a turn."""
    evaluators: tuple[EvaluatorSpec, ...] = Field(min_length=1)
    context: tuple[Document, ...] = ()
    tools: dict[str, ToolDouble] = Field(default_factory=dict)
    category: str | None = None
    """The group of scenarios that it belongs to; reports give the pass rate of each group."""
    threshold: float | None = Field(default=None, gt=0, lt=1)
    """The pass rate the suite asks of this scenario; None takes the suite's."""
    setup: str | None = None
    """`module:function`, called with the scenario before each trial."""
    teardown: str | None = None
    compare: tuple[EvaluatorSpec, ...] = ()
    """The extractors of facts by which relations compare runs of it; empty takes the default."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of what shapes a trial.

        What judges a trial is left out: a change of that re-scores stored traces and needs no new trial.
        """
        judging = {"category", "evaluators", "threshold", "compare"}
        return digest_of(self.model_dump(mode="json", exclude=judging, exclude_none=True))

    def as_run(self, trace: AgentTrace) -> Self:
        """Return the scenario with what the user said in this run, if another tool ran it with other words."""
        said = trace.foreign.turns if trace.foreign else ()
        return self.model_copy(update={"turns": said}) if said and said != self.turns else self
