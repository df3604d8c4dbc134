"""Proposed assertions and scenarios, each with its effect on stored or new runs."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from agentmut._base import Frozen
from agentmut.nouns.scenario import EvaluatorSpec, Scenario


class Rate(Frozen):
    """Runs in which something held."""

    held: int
    of: int

    @property
    def share(self) -> float | None:
        """Return the share of runs that passed; None without runs."""
        return self.held / self.of if self.of else None

    def __str__(self) -> str:
        return f"{self.held}/{self.of}"


class Basis(StrEnum):
    """The ground on which a person may write a proposed assertion."""

    RULE = "rule"
    """A rule of the prompt that holds for the user's request asks for it."""
    REQUEST = "request"
    """The user asks for the call, and gives the values of its arguments."""
    SEEN = "seen"
    """It only differs between the original's runs and the mutant's: the original may be wrong, too."""


class AssertionSuggestion(Frozen):
    """An evaluator for an existing scenario, checked on stored runs."""

    kind: Literal["assertion"] = "assertion"
    id: str
    """8 hex digits: a function of scenario and evaluator."""
    scenario: str
    evaluator: EvaluatorSpec
    why: str
    """What differs between original and mutants, in a sentence."""
    mutants: tuple[str, ...]
    """Ids of the survivors that it kills on stored runs, the one it was mined for first."""
    baseline: Rate
    """All stored runs of the original."""
    held_out: Rate
    """The half of them that was not used to find it."""
    mutant: Rate
    """The stored runs of the mutant that it was mined for, which it was checked on."""
    margin: float
    """Lower end of the original's rate minus upper end of the mutant's, by Wilson: positive is clear."""
    generality: float
    """From 0 (spells out one run, or says next to nothing) to 1 (speaks of the kind of behaviour)."""
    grounded: int = 0
    """2: the rule that the mutant changes asks for it; 1: it speaks of what that rule or tool speaks of; 0: neither."""
    basis: Basis = Basis.SEEN
    """The ground on which a person may write it."""
    together: Rate | None = None
    """The original's runs that pass the scenario with this and all that is proposed beside it."""

    @property
    def firm(self) -> bool:
        """Return whether the prompt or the user asks for it; else a person must decide whether it is right."""
        return self.basis is not Basis.SEEN


class ScenarioSuggestion(Frozen):
    """A scenario for the suite. Its evaluators are guesses from observed behaviour, so a person has to confirm them."""

    kind: Literal["scenario"] = "scenario"
    id: str
    scenario: Scenario
    origin: str
    """How it was made, in a phrase."""
    aim: str = ""
    """What it was made for, in words; empty where for nothing in particular."""
    why: str
    adds: tuple[str, ...] = ()
    """Coverage items that no scenario had, such as `tool cancel_order`."""
    kills: tuple[str, ...] = ()
    """Ids of the mutants that it kills."""
    passes: Rate
    """The original's runs in which the proposed evaluators held."""
    trials: int = 0
    """Runs that finding and checking it took."""


class Suggestions(Frozen):
    """The proposals of one `agentmut suggest`, kept in `.agentmut/suggestions.json` until the next."""

    run_id: str
    """The run whose stored trials they rest on."""
    assertions: tuple[AssertionSuggestion, ...] = ()
    scenarios: tuple[ScenarioSuggestion, ...] = ()
    notes: tuple[str, ...] = ()
    state: dict[str, str] = Field(default_factory=dict)
