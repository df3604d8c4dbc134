"""A behavioural contract as an evaluator that locates every violation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut._base import EvaluatorError, arguments, nearest
from agentmut.judging.contracts.contract import (
    INPUT_NAMES,
    Clause,
    ContractSpec,
    Governance,
    Invariant,
    Precondition,
    Severity,
    parse_contract,
)
from agentmut.judging.contracts.steps import over_steps, step_values
from agentmut.judging.evaluators.expression import Predicate, Truth, namespace
from agentmut.judging.evaluators.trajectory import NO_CALL, asks_a_model, known_cost
from agentmut.nouns import AgentTrace, Check, Scenario
from agentmut.seams import NamesTools, Notes, ReadsFiles

MOST_KEPT = 50
"""Violations that the details of a check list, besides the first of every clause."""


class Violation(NamedTuple):
    """A clause that did not hold, from one step to another."""

    clause: str
    kind: str
    """invariant, governance or postcondition."""
    severity: Severity
    said: str
    step: int | None = None
    """The first violated step, counted from 1; None for the finished run."""
    until: int | None = None
    """The last of the consecutive steps with the violation."""
    turn: int | None = None
    tool: str | None = None
    recovered: int | None = None
    """The step at which a soft clause held again in time; it does not fail the run then."""

    @property
    def where(self) -> str:
        """Return the violated steps in words."""
        if self.step is None:
            return "at the end"
        steps = f"step {self.step}" if self.until == self.step else f"steps {self.step} to {self.until}"
        return (
            f"in {steps} ({self.tool}, turn {self.turn})" if self.tool else f"in {steps} (turn {self.turn})"
        )

    @property
    def details(self) -> dict[str, JsonValue]:
        """Return the violation as JSON."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Contract(NamesTools, Notes, ReadsFiles):
    """`contract: contracts/refunds.yaml`: the run satisfies a behavioural contract.

    The argument is a path (relative to the project file), the contract itself as a mapping, or `{file: PATH, clauses:
    [ID, ...]}` for some clauses only. Invariants and limits are checked after every step on what was there by then,
    postconditions on the finished run. Where a precondition does not hold of the scenario's input the contract says
    nothing: the check passes, and its reason and details say that it does not apply.
    """

    id: ClassVar[str] = "contract"

    def __init__(self, argument: JsonValue) -> None:
        self.spec: ContractSpec = _contract(self.read_files(argument, Path()))
        self.tools = self.spec.governance.tools

    @classmethod
    def read_files(cls, argument: JsonValue, root: Path) -> JsonValue:
        """Return the argument with the contract in place of its path. Raise `UsageError`."""
        if isinstance(argument, str) and argument:
            return _read(argument, root)
        if isinstance(argument, dict) and isinstance(path := argument.get("file"), str):
            return {**argument, "file": _read(path, root)}
        return argument

    def why_vacuous(self, scenario: Scenario) -> str:
        """Return the preconditions that the scenario's input does not meet; empty if the contract applies."""
        documents: list[JsonValue] = [document.name for document in scenario.context]
        given = dict(zip(INPUT_NAMES, (list(scenario.turns), documents), strict=True))
        found = (
            (clause, _truth(clause, clause.predicate(clause.check), given))
            for clause in self.spec.preconditions
        )
        return "; ".join(
            f"precondition {clause.id} {truth.explanation}" for clause, truth in found if not truth.true
        )

    def note(self, scenario: Scenario) -> str:
        """Return what readers of results must know of this contract on a scenario; empty if nothing."""
        why = self.why_vacuous(scenario)
        return (
            f"{scenario.name}: contract {self.spec.name} does not apply, so it checks nothing: {why}"
            if why
            else ""
        )

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Check every clause at every step, and the postconditions at the end."""
        if why := self.why_vacuous(scenario):
            said = f"contract {self.spec.name} does not apply: {why}"
            return Check(
                evaluator=self.id, passed=True, reason=said, details=self._details((), applies=False)
            )
        found = tuple(self._violations(scenario, trace))
        failing = [one for one in found if one.recovered is None]
        reason = _failed(self.spec.name, failing) if failing else self._held(trace, found)
        return Check(evaluator=self.id, passed=not failing, reason=reason, details=self._details(found))

    def _violations(self, scenario: Scenario, trace: AgentTrace) -> Iterator[Violation]:
        faults = [clause.fault for clause in self._invariants]
        stretches = over_steps(step_values(scenario, trace), faults)
        for clause, own in zip(self._invariants, stretches, strict=True):
            for found in own:
                yield _located(
                    trace, found, clause.spec.id, "invariant", clause.spec.severity, self._window(clause)
                )
        for limit, found in exceeded(self.spec.governance, trace):
            yield _located(trace, found, limit, "governance", Severity.HARD, 0)
        end = namespace(scenario, trace)
        for condition in self.spec.postconditions:
            truth = _truth(condition, condition.predicate(condition.check), end)
            if not truth.true:
                said = f"`{condition.check}` {truth.explanation}"
                yield Violation(condition.id, "postcondition", Severity.HARD, said)

    @cached_property
    def _invariants(self) -> tuple["_ParsedInvariant", ...]:
        return tuple(_ParsedInvariant(clause) for clause in self.spec.invariants)

    def _window(self, clause: "_ParsedInvariant") -> int:
        return clause.spec.recovery or self.spec.recovery.window

    def _held(self, trace: AgentTrace, recovered: Iterable[Violation]) -> str:
        said = "; ".join(
            f"{one.clause} was violated {one.where} and held again at step {one.recovered}"
            for one in recovered
        )
        if not trace.steps and self.spec.invariants:
            unchecked = ", ".join(clause.id for clause in self.spec.invariants)
            return (
                f"contract {self.spec.name} is not violated; the run has no steps, so no invariant was checked "
                f"({unchecked})"
            )
        return f"contract {self.spec.name} holds over {len(trace.steps)} steps" + (
            f" ({said})" if said else ""
        )

    def _details(self, found: tuple[Violation, ...], *, applies: bool = True) -> dict[str, JsonValue]:
        kept: list[JsonValue] = [one.details for one in _first_violations(found)]
        return {"contract": self.spec.name, "applies": applies, "violations": kept}


class _ParsedInvariant:
    """An invariant with its expressions parsed."""

    def __init__(self, spec: Invariant) -> None:
        self.spec = spec
        self._check = spec.predicate(spec.check)
        self._when = spec.predicate(spec.when) if spec.when else None

    def fault(self, values: dict[str, Any]) -> str:
        """Return what is wrong after a step; empty if nothing is."""
        if self._when:
            asked = _truth(self.spec, self._when, values)
            if asked.unusable:
                return f"when: `{self._when.source}` {asked.explanation}"
            if not asked.true:
                return ""
        truth = _truth(self.spec, self._check, values)
        return "" if truth.true else f"`{self._check.source}` {truth.explanation}"


def _truth(clause: Clause, predicate: Predicate, values: Mapping[str, Any]) -> Truth:
    """Return whether an expression of a clause is true. Raise `EvaluatorError` with the clause if that is not known."""
    try:
        return predicate.of(values)
    except EvaluatorError as error:
        step = values.get("step")
        raise error.placed(f"clause {clause.id}" + (f", step {step['number']}" if step else "")) from None


def _located(
    trace: AgentTrace, found: tuple[int, int, str], clause: str, kind: str, severity: Severity, window: int
) -> Violation:
    """Return a violation from the first to the last of the steps `found`, both counted from 1."""
    first, last, said = found
    step = trace.steps[first - 1] if trace.steps else None
    in_time = severity is Severity.SOFT and last < len(trace.steps) and last + 1 - first <= window
    return Violation(
        clause,
        kind,
        severity,
        said,
        step=first if step else None,
        until=last if step else None,
        turn=step.turn if step else None,
        tool=step.tool if step else None,
        recovered=last + 1 if in_time else None,
    )


def _first_violations(found: tuple[Violation, ...]) -> Iterator[Violation]:
    """Keep the first violations, and for each clause its first and its first hard one: counts by clause need these."""
    needed = {(one.clause, one.recovered is None): place for place, one in reversed([*enumerate(found)])}
    return (one for place, one in enumerate(found) if place < MOST_KEPT or place in needed.values())


def _failed(contract: str, failing: list[Violation]) -> str:
    first = failing[0]
    more = f"; and {len(failing) - 1} more" if len(failing) > 1 else ""
    late = " and did not recover in time" if first.severity is Severity.SOFT else ""
    return f"contract {contract}: {first.clause} is violated {first.where}{late}: {first.said}{more}"


def _read(path: str, root: Path) -> JsonValue:
    from agentmut._base import read_yaml, validated

    source = read_yaml(root / path, path)
    validated(source, ContractSpec)  # so that an error names the file and the line
    return source.value


def _contract(argument: JsonValue) -> ContractSpec:
    if not isinstance(argument, dict):
        raise ValueError(f"expects the path of a contract, or a contract as a mapping, got {argument!r}")
    if "file" not in argument:
        return parse_contract(argument)
    given = arguments.mapping(argument, ("file", "clauses"))
    spec, ids = parse_contract(given["file"]), arguments.texts(given["clauses"], "ids of clauses")
    known = [clause.id for clause in spec.clauses if not isinstance(clause, Precondition)]
    for id in ids:
        if id not in known:
            raise ValueError(f"contract {spec.name} has no clause {id!r}. {nearest(id, known)}")
    return spec.only(ids)


Stretch = tuple[int, int, str]
"""First and last violated step, counted from 1, and what is wrong."""


def exceeded(limits: Governance, trace: AgentTrace) -> Iterator[tuple[str, Stretch]]:
    """Yield each exceeded limit with its violated steps; for tools, every refused call."""
    steps, last = trace.steps, len(trace.steps)
    if limits.max_usd is not None:
        yield from _money(limits.max_usd, trace)
    if limits.max_tokens is not None:
        tokens = list(accumulate(step.usage.total for step in steps))
        yield from _passed("max_tokens", tokens, limits.max_tokens, f"{limits.max_tokens} tokens")
    if limits.max_steps is not None and last > limits.max_steps:
        yield "max_steps", (limits.max_steps + 1, last, f"{last} steps, at most {limits.max_steps} allowed")
    if limits.max_seconds is not None:
        ends = list(accumulate((step.started + step.seconds for step in steps), max))
        ends[-1:] = [max([trace.seconds, *ends[-1:]])]  # what came after the last step counts as well
        yield from _passed("max_seconds", ends, limits.max_seconds, f"{limits.max_seconds:g} s")
    for number, step in enumerate(steps, 1):
        if step.tool is None:
            continue
        if limits.tools_allowed is not None and step.tool not in limits.tools_allowed:
            allowed = ", ".join(limits.tools_allowed) or "none"
            yield "tools_allowed", (number, number, f"called {step.tool!r}; allowed: {allowed}")
        if step.tool in limits.tools_forbidden:
            yield "tools_forbidden", (number, number, f"called {step.tool!r}, which is forbidden")


def _money(limit: float, trace: AgentTrace) -> Iterator[tuple[str, Stretch]]:
    if not asks_a_model(trace):
        yield "max_usd", (1, len(trace.steps), NO_CALL)
        return
    known_cost(trace)
    spent = list(accumulate(step.usd or 0.0 for step in trace.steps))
    yield from _passed("max_usd", spent, limit, f"${limit:g}")


def _passed(name: str, reached: Sequence[float], limit: float, shown: str) -> Iterator[tuple[str, Stretch]]:
    first = next((number for number, value in enumerate(reached, 1) if value > limit), None)
    if first is not None:
        yield name, (first, len(reached), f"{reached[first - 1]:g} by then, at most {shown} allowed")
