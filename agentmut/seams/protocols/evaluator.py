"""What an evaluator looks like to the core, and the capabilities that it can declare."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from agentmut.nouns import AgentTrace, Check, JudgeModel, JudgeSpend, OpinionCache, Scenario
from agentmut.seams.capability import Capability


@runtime_checkable
class Evaluator(Protocol):
    """Judges traces. Built as `Class(argument)`; a bad argument raises `ValueError` with what it expects."""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Pass or fail, with a reason that a reader understands without the trace."""


class ReadsFiles(Capability, kind="evaluators"):
    """The evaluator's argument may name files."""

    @classmethod
    @abstractmethod
    def read_files(cls, argument: JsonValue, root: Path) -> JsonValue:
        """Return the argument with what the files hold in the place of their paths, which are relative to `root`.

        Raises `ValueError` or `UsageError`.
        """


class Notes(Capability, kind="evaluators"):
    """The evaluator may have something to tell before any run."""

    @abstractmethod
    def note(self, scenario: Scenario) -> str:
        """Return what a reader of results has to know of it on a scenario, in a phrase; empty for nothing."""


class GivesChecks(Capability, kind="evaluators"):
    """The evaluator gives several checks of a trace, each under a name of its own."""

    @abstractmethod
    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """Return at least one. Which they are may differ from trace to trace."""


class AsksModel(Capability, kind="evaluators"):
    """The evaluator asks a model: it takes time and money, and runs beside the event loop."""

    model: JudgeModel

    @property
    @abstractmethod
    def spend(self) -> JudgeSpend:
        """Return what it has taken so far."""

    @abstractmethod
    def remembering(self, cache: OpinionCache) -> "Evaluator":
        """Return the same evaluator, which keeps what it was told in `cache`."""


class NamesTools(Capability, kind="evaluators"):
    """The evaluator speaks of tools: a misspelt name would let it pass for ever, so the names are checked."""

    tools: Sequence[str]
    """The names of the tools."""


class HasSource(Capability, kind="evaluators"):
    """The evaluator runs code that its argument only names: stored verdicts end when the code changes."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Return the text of the code."""
