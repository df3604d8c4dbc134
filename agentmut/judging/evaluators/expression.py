"""Safe expressions over one run: a small language that never uses Python's `eval`."""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from pydantic import JsonValue
from simpleeval import (  # type: ignore[import-untyped]
    DEFAULT_OPERATORS,
    MAX_COMPREHENSION_LENGTH,
    EvalWithCompoundTypes,
    InvalidExpression,
    SimpleEval,
)

from agentmut._base import EvaluatorError, arguments, nearest, one_line
from agentmut.judging.evaluators.json_values import SHOWN, shown, structured
from agentmut.nouns import END, START, AgentTrace, Check, Scenario

NAMES = (
    "output", "outputs", "text", "json", "turns", "tools", "calls", "nodes", "steps", "tokens", "usd", "seconds",
)  # fmt: skip


_UNUSABLE = (
    InvalidExpression, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, MemoryError
)  # fmt: skip
"""What simpleeval raises where values do not allow an expression. A deadline of ours is none of these."""
FAIL = "fail"
REMEDY = (
    "Guard what a run may lack (`json is not None and ...`, `json.get('id')`), or write `otherwise: fail` beside "
    "`check:` if a run without it fails. Finished trials are kept."
)
"""What to do about an expression that cannot be evaluated."""
MOST_ITEMS = 1_000_000
"""Items that the comprehensions of one expression may go through."""
_PLAIN = frozenset({bool, int, float, str, type(None), list, tuple, dict})


class Expression:
    """`expression: "'refund' in text.lower() and steps <= 8"`: the expression is true of the run.

    Names: `output` (the last answer), `outputs` (one per turn), `text` (the last answer as text), `json`
    (the JSON in it, none if there is none), `turns` (what the user said), `tools` (names of the tools
    called, in order), `calls` (each with `tool`, `arguments`, `output`, `error`), `nodes` (of a graph, those that
    the run entered, each once), `steps` (how many), `tokens`, `usd` (none when a price is unknown), `seconds`.

    Functions: abs, all, any, bool, float, int, len, max, min, round, sorted, str, sum. Text, lists and
    mappings have their reading methods (`text.lower()`, `json.get("id")`), and list comprehensions work.
    An expression that the run's data does not allow (a missing key, a number where text was), or that is neither
    true nor false, is an error of the evaluator. `{check: EXPRESSION, otherwise: fail}` fails such a trial instead.
    """

    def __init__(self, argument: JsonValue) -> None:
        written, otherwise = argument, None
        if isinstance(argument, dict):
            given = arguments.mapping(argument, ["check"], ["otherwise"])
            written, otherwise = given["check"], given.get("otherwise")
        if otherwise not in (None, FAIL):
            raise ValueError(f"expects otherwise to be {FAIL}, or to be left out, got {otherwise!r}")
        self.predicate = Predicate(written, NAMES, fails_otherwise=otherwise == FAIL)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Evaluate over the trace. Raise `EvaluatorError` where its data does not allow the expression."""
        truth = self.predicate.of(namespace(scenario, trace))
        output = "" if truth.true or truth.unusable else f"; output: {shown(trace.text)}"
        reason = f"`{self.predicate.source}` {truth.explanation}{output}"
        return Check(evaluator="expression", passed=truth.true, reason=reason)


class Truth(NamedTuple):
    """The result of a predicate."""

    true: bool
    explanation: str
    """That the predicate holds or does not, or why neither is known."""
    unusable: bool = False
    """Whether the data does not allow a value, or the value is neither true nor false. `true` is then false."""


class Predicate:
    """A parsed expression over named values. Raises `ValueError` for no expression and for names not in `names`.

    Where the values do not allow the expression it is an error, since that says nothing about the agent;
    with `fails_otherwise` it is false then.
    """

    def __init__(self, argument: JsonValue, names: Iterable[str], *, fails_otherwise: bool = False) -> None:
        self.source = arguments.text(argument, "an expression")
        self.fails_otherwise = fails_otherwise
        try:
            self.tree = ast.parse(self.source.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            said = str(error) or "it is nested too deeply"
            raise ValueError(f"expects an expression, got {shown(self.source)}: {said}") from None
        for fault in _faults(self.tree, frozenset(names)):
            raise ValueError(f"{fault} (in {self.source!r})")

    def of(self, values: Mapping[str, Any]) -> Truth:
        """Return whether it is true of these values, which it cannot change. Raise `EvaluatorError` if unknown."""
        truth = self._found(values)
        if truth.unusable and not self.fails_otherwise:
            raise EvaluatorError(
                f"`{self.source}` {truth.explanation}. {REMEDY}",
                f"`{self.source}` cannot be evaluated. {REMEDY}",
            )
        return truth

    def _found(self, values: Mapping[str, Any]) -> Truth:
        evaluator = _Evaluator(
            operators={**DEFAULT_OPERATORS, ast.Mod: _remainder},
            functions=_functions(),
            names=dict(values),
            allowed_attrs=_methods(),
        )
        try:
            value = evaluator.eval(self.source, previously_parsed=self.tree)
        except _UNUSABLE as error:
            return Truth(False, f"cannot be evaluated: {one_line(error)}", True)
        if not isinstance(value, bool):
            return Truth(False, f"is {repr(value)[:SHOWN]}, neither true nor false: write a comparison", True)
        return Truth(value, "holds" if value else "does not hold")


class _Evaluator(EvalWithCompoundTypes):  # type: ignore[misc]  # simpleeval has no types
    """Evaluates an expression and checks each value when it is used, not everything in a container.

    simpleeval goes through a whole container whenever it is named, which takes seconds over the steps of a long run.
    What a container holds can do nothing until it is taken out, and is looked at then: every item, result and
    method is itself the value of a part of the expression.
    """

    def eval(self, expr: str, previously_parsed: ast.AST | None = None) -> Any:
        """Return the value of an expression, with a limit on the items that it may count."""
        self._max_count = MAX_COMPREHENSION_LENGTH - MOST_ITEMS  # it may count up to its own limit
        return SimpleEval.eval(self, expr, previously_parsed)

    def _check_disallowed_items(self, item: Any) -> None:
        if type(item) not in _PLAIN:
            super()._check_disallowed_items(item)


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, str):  # formatting could ask for text of any width
        raise TypeError("% works on numbers only")
    return a % b


def _functions() -> dict[str, Callable[..., Any]]:
    return {f.__name__: f for f in (abs, all, any, bool, float, int, len, max, min, round, sorted, str, sum)}


def _methods() -> dict[type | None, set[str]]:
    """Return the methods that an expression may call: they only read, and cannot make huge values."""
    reading = {"count", "index"}
    return {
        str: reading | {"casefold", "endswith", "find", "isalpha", "isdigit", "join", "lower"}
        | {"removeprefix", "removesuffix", "rstrip", "lstrip", "strip", "split", "splitlines", "startswith"}
        | {"title", "upper"},
        list: reading,
        dict: {"get", "items", "keys", "values"},
    }  # fmt: skip


def namespace(scenario: Scenario, trace: AgentTrace) -> dict[str, Any]:
    """Return copies of the trace's data, so that no expression can reach an internal object."""
    calls = [step.model_dump(include={"tool", "arguments", "output", "error"}) for step in trace.tool_calls]
    values = (
        trace.output, list(trace.outputs), trace.text, _json_or_none(trace), list(scenario.turns),
        list(trace.tools_called), calls, _nodes(trace), len(trace.steps), trace.usage.total, trace.usd, trace.seconds,
    )  # fmt: skip
    return dict(zip(NAMES, values, strict=True))


def _nodes(trace: AgentTrace) -> list[str]:
    named = [*(step.node for step in trace.steps if step.node), *chain.from_iterable(trace.edges)]
    return [name for name in dict.fromkeys(named) if name not in (START, END)]


def _json_or_none(trace: AgentTrace) -> JsonValue:
    try:
        return structured(trace)
    except ValueError:
        return None


def _faults(tree: ast.expr, names: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with an expression for every run: unknown names, forbidden constructs."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _binds(node)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Lambda | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.JoinedStr
        ):
            yield f"{type(node).__name__.lower()} is not allowed in an expression"
        elif isinstance(node, ast.Attribute) and not _is_method(node.attr):
            hint = f"Read a field of a mapping as [{node.attr!r}]."
            yield f"unknown method .{node.attr}. {nearest(node.attr, _all_methods())} {hint}"
        elif isinstance(node, ast.Name):
            known = _functions().keys() if id(node) in called else {*names, *bound}
            if node.id not in known:
                yield f"unknown name {node.id!r}. {nearest(node.id, known)}"


def _binds(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _all_methods() -> set[str]:
    return set().union(*_methods().values())


def _is_method(name: str) -> bool:
    return name in _all_methods()
