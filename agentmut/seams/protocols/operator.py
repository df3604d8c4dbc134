"""The protocol of an operator."""

from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from agentmut._base import Frozen
from agentmut.nouns import AgentConfig, Candidate, Effect, Intent, OperatorClass, Reach
from agentmut.seams.capability import Capability


class OperatorOptions(Frozen):
    """The options of operators besides the config: the `mutation` section of the project file."""

    swap_models: tuple[str, ...] = ()
    downgrade_models: tuple[str, ...] = ()
    slow_seconds: float = 3.0
    wordnet: bool = False


class Example(NamedTuple):
    """An operator's documentation and test: its first mutant of `config` turns it into `first`."""

    config: AgentConfig
    first: AgentConfig
    options: OperatorOptions = OperatorOptions()


class HasEffect(Capability, kind="operators"):
    """The operator's mutants do something that reports have a section for, such as dropping a rule of the prompt."""

    effect: ClassVar[Effect]


class OnDemand(Capability, kind="operators"):
    """The operator is used only on demand: by name, by a pattern, or with `mutation.incidents`."""


class NeedsEnglish(Capability, kind="operators"):
    """The operator changes or adds English words, and leaves instructions in other languages alone."""


class NamesLack(Capability, kind="operators"):
    """The operator can say why a config gives it no mutants."""

    lack: ClassVar[str]
    """What such a config lacks, in a phrase."""


@runtime_checkable
class Operator(Protocol):
    """A pure generator of mutants from a config. Built without arguments."""

    id: ClassVar[str]
    """`class.name`."""
    version: ClassVar[int]
    """Raised whenever the same input gives other mutants; part of their ids."""
    operator_class: ClassVar[OperatorClass]
    intent: ClassVar[Intent]
    reach: ClassVar[Reach]
    why: ClassVar[str]
    """One line: how this happens in practice."""

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Return every mutant of the config, in a stable order."""

    def examples(self) -> Iterable[Example]:
        """Return at least one example."""
