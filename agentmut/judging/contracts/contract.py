"""A behavioural contract: what must hold before, during and after every run of an agent."""

from enum import StrEnum
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from agentmut._base import Frozen, first_fault
from agentmut.judging.evaluators.expression import FAIL, NAMES, Predicate

INPUT_NAMES = ("turns", "documents")
"""The names in a precondition: the scenario's inputs, never the agent's results."""
STEP_NAMES = (*NAMES, "step", "turn")
"""The names in an invariant: those of an `expression`, with their values after each step."""


class Severity(StrEnum):
    """What a violation costs."""

    HARD = "hard"
    """It fails the run."""
    SOFT = "soft"
    """It fails the run unless the clause holds again within its recovery window."""


class Clause(Frozen):
    """One condition, under a name that is unique in its contract."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    check: str
    """A safe expression that must be true; see the evaluator `expression`."""
    otherwise: Literal["fail"] | None = None
    """`fail`: where a run's data does not allow the expression, the clause is violated. Else that is an error."""
    names: ClassVar[tuple[str, ...]] = NAMES

    @field_validator("check", "when", check_fields=False)
    @classmethod
    def _parses(cls, written: str | None) -> str | None:
        if written is not None:
            Predicate(written, cls.names)
        return written

    def predicate(self, written: str) -> Predicate:
        """Return one of the clause's expressions, parsed."""
        return Predicate(written, self.names, fails_otherwise=self.otherwise == FAIL)


class Precondition(Clause):
    """A condition on the scenario's input; where it does not hold, the contract says nothing."""

    names: ClassVar[tuple[str, ...]] = INPUT_NAMES


class Postcondition(Clause):
    """A condition on the finished run."""


class Invariant(Clause):
    """A condition on every step of the run."""

    when: str | None = None
    """Only steps of which this is true are asked about; all of them when left out."""
    severity: Severity = Severity.HARD
    recovery: int | None = Field(default=None, ge=1)
    """Steps within which a soft clause must hold again; None takes the contract's window."""
    names: ClassVar[tuple[str, ...]] = STEP_NAMES

    @model_validator(mode="after")
    def _window_of_soft_ones(self) -> Self:
        if self.recovery is not None and self.severity is Severity.HARD:
            raise ValueError("recovery is for soft clauses; add `severity: soft`, or leave it out")
        return self


class Governance(Frozen):
    """Limits that hold at every step. All are hard."""

    max_usd: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    max_steps: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0)
    tools_allowed: tuple[str, ...] | None = None
    """The only tools that may be called; an empty list allows none."""
    tools_forbidden: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the tools that the limits name."""
        return (*(self.tools_allowed or ()), *self.tools_forbidden)


class Recovery(Frozen):
    """How the agent may recover from a violated soft clause."""

    window: int = Field(default=1, ge=1)
    """Steps after the first violated one within which a soft clause must hold again."""


class Satisfaction(Frozen):
    """(p, delta, k)-satisfaction: over k observations in a row, a rate of p or more that drifts by less than delta."""

    p: float = Field(gt=0, lt=1)
    delta: float = Field(gt=0, lt=1)
    k: int = Field(ge=1, le=10_000)


class ContractSpec(Frozen):
    """A contract as a user writes it; see `docs/contracts.md`."""

    name: str = Field(min_length=1)
    description: str = ""
    preconditions: tuple[Precondition, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    postconditions: tuple[Postcondition, ...] = ()
    governance: Governance = Governance()
    recovery: Recovery = Recovery()
    satisfaction: Satisfaction | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        ids = [clause.id for clause in self.clauses]
        if twice := sorted({id for id in ids if ids.count(id) > 1}):
            raise ValueError(f"the id {twice[0]!r} is given to more than one clause; ids are unique")
        if limits := [id for id in ids if id in Governance.model_fields]:
            raise ValueError(
                f"the id {limits[0]!r} is the name of a limit of governance; give the clause another, "
                "so that reports can tell the two apart"
            )
        if not (self.invariants or self.postconditions or self.governance != Governance()):
            raise ValueError("a contract needs invariants, postconditions or governance; it says nothing yet")
        return self

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Return all written clauses, in order."""
        return (*self.preconditions, *self.invariants, *self.postconditions)

    def only(self, ids: tuple[str, ...]) -> "ContractSpec":
        """Return the contract with only these invariants and postconditions, and without its limits."""
        return self.model_copy(
            update={
                "invariants": tuple(clause for clause in self.invariants if clause.id in ids),
                "postconditions": tuple(clause for clause in self.postconditions if clause.id in ids),
                "governance": Governance(),
            }
        )


def parse_contract(value: Any) -> ContractSpec:
    """Return the contract that a mapping holds. Raise `ValueError` with the key and its fault."""
    try:
        return ContractSpec.model_validate(value)
    except ValidationError as error:
        raise ValueError(first_fault(error).under()) from None
