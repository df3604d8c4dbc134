"""What an evaluator looks like to the core, and what it may offer beside."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from agentmut.nouns import AgentTrace, Check, JudgeModel, JudgeSpend, OpinionCache, Scenario


@runtime_checkable
class Evaluator(Protocol):
    """Judges traces. Built as `Class(argument)`; a bad argument raises `ValueError` with what it expects."""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Pass or fail, with a reason that a reader understands without the trace."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """What an evaluator's class has besides whose argument may name files."""

    @classmethod
    def read_files(cls, argument: JsonValue, root: Path) -> JsonValue:
        """The argument with what the files hold in the place of their paths, which are relative to `root`.

        Raises `ValueError` or `UsageError`.
        """
        ...


@runtime_checkable
class Notes(Protocol):
    """What an evaluator has besides that may have something to tell before any run."""

    def note(self, scenario: Scenario) -> str:
        """What a reader of results has to know of it on a scenario, in a phrase; empty for nothing."""
        ...


@runtime_checkable
class GivesChecks(Protocol):
    """What an evaluator has besides that gives several checks of a trace, each under a name of its own."""

    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """At least one. Which they are may differ from trace to trace."""
        ...


@runtime_checkable
class AsksModel(Protocol):
    """What an evaluator has besides that asks a model: it takes time and money, and is run beside the event loop."""

    model: JudgeModel

    @property
    def spend(self) -> JudgeSpend:
        """What it has taken so far."""
        ...

    def remembering(self, cache: OpinionCache) -> "Evaluator":
        """The same evaluator, which keeps what it was told in `cache`."""
        ...
