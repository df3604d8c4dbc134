"""What an evaluator looks like to the core, and the capabilities that it can declare."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from pydantic import JsonValue

from agentmut.nouns import AgentTrace, Check, JudgeModel, JudgeSpend, OpinionCache, Scenario
from agentmut.seams.capability import Capability


@runtime_checkable
class Evaluator(Protocol):
    """Judges traces. Built as `Class(argument)`; a bad argument raises `ValueError` with what it expects."""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Pass or fail, with a reason that a reader understands without the trace."""
        ...


class ReadsFiles(Capability):
    """The evaluator's argument may name files."""

    kind: ClassVar[str] = "evaluators"

    @classmethod
    @abstractmethod
    def read_files(cls, argument: JsonValue, root: Path) -> JsonValue:
        """The argument with what the files hold in the place of their paths, which are relative to `root`.

        Raises `ValueError` or `UsageError`.
        """


class Notes(Capability):
    """The evaluator may have something to tell before any run."""

    kind: ClassVar[str] = "evaluators"

    @abstractmethod
    def note(self, scenario: Scenario) -> str:
        """What a reader of results has to know of it on a scenario, in a phrase; empty for nothing."""


class GivesChecks(Capability):
    """The evaluator gives several checks of a trace, each under a name of its own."""

    kind: ClassVar[str] = "evaluators"

    @abstractmethod
    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """At least one. Which they are may differ from trace to trace."""


class AsksModel(Capability):
    """The evaluator asks a model: it takes time and money, and runs beside the event loop."""

    kind: ClassVar[str] = "evaluators"

    model: JudgeModel

    @property
    @abstractmethod
    def spend(self) -> JudgeSpend:
        """What it has taken so far."""

    @abstractmethod
    def remembering(self, cache: OpinionCache) -> "Evaluator":
        """The same evaluator, which keeps what it was told in `cache`."""


class NamesTools(Capability):
    """The evaluator speaks of tools: a misspelt name would let it pass for ever, so the names are checked."""

    kind: ClassVar[str] = "evaluators"
    tools: Sequence[str]
    """The names of the tools."""


class HasSource(Capability):
    """The evaluator runs code that its argument only names: stored verdicts end when the code changes."""

    kind: ClassVar[str] = "evaluators"

    @property
    @abstractmethod
    def source(self) -> str:
        """The text of the code."""
