"""The protocol of an evaluator, and the capabilities that an evaluator can declare."""

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
        """Return the argument with file contents in the place of paths, which are relative to `root`.

        Raises `ValueError` or `UsageError`.
        """


class Notes(Capability, kind="evaluators"):
    """The evaluator may have a note for readers before any run."""

    @abstractmethod
    def note(self, scenario: Scenario) -> str:
        """Return a note on a scenario for readers of results, in a phrase; empty for none."""


class GivesChecks(Capability, kind="evaluators"):
    """The evaluator gives several named checks of a trace."""

    @abstractmethod
    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """Return at least one check. Different traces may have different checks."""


class AsksModel(Capability, kind="evaluators"):
    """The evaluator asks a model, which takes time and money; it runs outside the event loop."""

    model: JudgeModel

    @property
    @abstractmethod
    def spend(self) -> JudgeSpend:
        """Return the use of the model so far."""

    @abstractmethod
    def remembering(self, cache: OpinionCache) -> "Evaluator":
        """Return the same evaluator, which stores its model's replies in `cache`."""


class JudgesAtOnce(Capability, kind="evaluators"):
    """The evaluator calls no code of others, and takes no more time than reading the run.

    A run of a usual size is then judged in the event loop and without a deadline, since handing it to another thread
    costs more than judging it.
    """


class NamesTools(Capability, kind="evaluators"):
    """The evaluator names tools. The names are checked, since a misspelt one would let it pass forever."""

    tools: Sequence[str]
    """The names of the tools."""


class HasSource(Capability, kind="evaluators"):
    """The evaluator runs code that its argument only names: stored verdicts expire when the code changes."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Return the text of the code."""
