"""The config that mutants are made from, and the part of it that one scenario uses."""

from collections.abc import Iterable, Mapping

from agentmut._base import UsageError
from agentmut.nouns import AgentConfig, Document, History, Scenario
from agentmut.trial.on_wire import Remedy


class SuiteConfig:
    """The agent's config together with every scenario's own documents.

    Mutants are made from `full`, so a document that only one scenario brings can be mutated too;
    `part(config, scenario)` drops again what belongs to other scenarios.
    """

    def __init__(
        self,
        base: AgentConfig,
        scenarios: Iterable[Scenario],
        *,
        on_wire: Remedy | None = None,
        workers: int = 0,
    ) -> None:
        self.base = base
        self.on_wire = on_wire
        """How the agent could be told itself, where mutants are made of its requests; None where its config is."""
        self.workers = workers
        """Processes that hold the code of a suite's cases from run to run; 0 where nothing is held."""
        scenarios = tuple(scenarios)
        self._one_turn = frozenset(s.name for s in scenarios if len(s.turns) == 1)
        self._carried = {s.name: frozenset(d.name for d in s.context) for s in scenarios}
        own = {document.name: document for s in scenarios for document in s.context}
        shared = {document.name: document for document in base.context}
        _check_same(scenarios, own | shared)
        self._scenario_only = frozenset(own) - frozenset(shared)
        extra = tuple(document for name, document in own.items() if name not in shared)
        history = History.KEPT if any(len(s.turns) > 1 for s in scenarios) else base.history
        full = base.model_copy(update={"context": (*base.context, *extra), "history": history})
        self.full = full if full != base else base

    def part(self, config: AgentConfig, scenario: str) -> AgentConfig:
        """Return the part of `config`, original or mutated, that `scenario` runs with."""
        changed: dict[str, object] = {}
        if foreign := self._scenario_only - self._carried[scenario]:
            changed["context"] = tuple(d for d in config.context if d.name not in foreign)
        if scenario in self._one_turn and config.history != self.base.history:
            # there is none: a first conversation in the suite changes nothing
            changed["history"] = self.base.history
        return config.model_copy(update=changed) if changed else config

    def carriers(self, document: str) -> frozenset[str]:
        """Return the names of the scenarios that carry a document; an empty name stands for any document."""
        everywhere = bool(self.base.context) if not document else document not in self._scenario_only
        if everywhere:
            return frozenset(self._carried)
        return frozenset(
            s for s, names in self._carried.items() if (document in names if document else names)
        )


def _check_same(scenarios: Iterable[Scenario], documents: Mapping[str, Document]) -> None:
    """Refuse two texts under one name, because one scenario would silently run with the other's document."""
    for scenario in scenarios:
        for document in scenario.context:
            if document != documents[document.name]:
                raise UsageError(
                    f"scenario {scenario.name}: its document {document.name!r} differs from another of that "
                    "name. Give it a name of its own."
                )
