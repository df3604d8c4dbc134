"""Evaluators of how the agent reached its answer: tools, order, steps, cost and time.

A call counts as made when the agent made it, whether or not the tool then failed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from pydantic import JsonValue

from agentmut._base import BoundedPattern, EvaluatorError, arguments, nearest
from agentmut.judging.evaluators.json_values import as_text, same_json, shown
from agentmut.nouns import Action, AgentTrace, Check, Scenario, Step
from agentmut.seams import JudgesAtOnce, NamesTools

TOOLS = "a tool's name or a list of them"


class ToolCalled(NamesTools, JudgesAtOnce):
    """`tool_called: NAME` or `[NAME, ...]`: each of the tools is called at least once."""

    def __init__(self, argument: JsonValue) -> None:
        self.tools = arguments.texts(argument, TOOLS)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for each tool among the calls."""
        missing = [tool for tool in self.tools if tool not in trace.tools_called]
        reason = f"called {_names(self.tools)}"
        if missing:
            reason = f"expected a call of {_names(missing)}; {_called(trace.tools_called)}"
        return Check(evaluator="tool_called", passed=not missing, reason=reason)


class ToolNotCalled(NamesTools, JudgesAtOnce):
    """`tool_not_called: NAME` or `[NAME, ...]`: none of the tools is called."""

    def __init__(self, argument: JsonValue) -> None:
        self.tools = arguments.texts(argument, TOOLS)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for each tool among the calls."""
        made = [tool for tool in self.tools if tool in trace.tools_called]
        reason = f"did not call {_names(self.tools)}"
        if made:
            reason = f"called the forbidden {_names(made)}; {_called(trace.tools_called)}"
        return Check(evaluator="tool_not_called", passed=not made, reason=reason)


class ToolCalledWith(NamesTools):
    """`tool_called_with: {tool: NAME, arguments: {...}}`: some call has these arguments.

    `matching: {NAME: PATTERN, ...}`, beside `arguments` or in its place: these arguments, as text, match the Python
    regular expression from end to end. Arguments that are not named may be anything; values are compared as JSON.
    """

    def __init__(self, argument: JsonValue) -> None:
        given = arguments.mapping(argument, ["tool"], ["arguments", "matching"])
        if len(given) == 1:
            arguments.mapping(argument, ["tool", "arguments"], ["matching"])  # says what is missing
        self.tool = arguments.text(given["tool"], "a tool's name")
        self.tools = [self.tool]
        self.expected = _named(given, "arguments")
        self.patterns = {name: _pattern(value) for name, value in _named(given, "matching").items()}

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for one call with all of the arguments."""
        calls = [step for step in trace.tool_calls if step.tool == self.tool]
        passed = any(self._matches(step) for step in calls)
        patterns = [f"{name} like /{pattern.pattern}/" for name, pattern in self.patterns.items()]
        expected = f"{self.tool}({', '.join(filter(None, [_arguments(self.expected), *patterns]))})"
        if passed:
            reason = f"called {expected}"
        elif calls:
            made = "; ".join(f"{self.tool}({_arguments(step.arguments or {})})" for step in calls)
            reason = f"expected {expected}; called {made}"
        else:
            reason = f"expected {expected}; {_called(trace.tools_called)}"
        return Check(evaluator="tool_called_with", passed=passed, reason=reason)

    def _matches(self, step: Step) -> bool:
        made = step.arguments or {}
        return all(
            name in made and same_json(value, made[name]) for name, value in self.expected.items()
        ) and all(
            name in made and pattern.fullmatch(as_text(made[name])) for name, pattern in self.patterns.items()
        )


def _named(argument: dict[str, JsonValue], key: str) -> dict[str, JsonValue]:
    if key not in argument:
        return {}
    named = argument[key]
    if not isinstance(named, dict) or not named:
        raise ValueError(f"expects {key} as a mapping with at least one, got {named!r}")
    return named


def _pattern(value: JsonValue) -> BoundedPattern:
    return BoundedPattern(arguments.text(value, "a regular expression"))


class ToolCount(NamesTools):
    """`tool_count: {tool: NAME, exactly: N}`: the tool is called so often; or `at_least: N`, `at_most: N`, or both.

    Without a tool, all calls are counted.
    """

    def __init__(self, argument: JsonValue) -> None:
        given = arguments.mapping(argument, [], ["tool", *_BOUNDS])
        limits = {bound: _calls(given[bound]) for bound in _BOUNDS if bound in given}
        if not limits or ("exactly" in limits and len(limits) > 1):
            raise ValueError(
                f"expects exactly, or at_least and at_most, or one of them, got {', '.join(given) or 'nothing'}"
            )
        self.tool = arguments.text(given["tool"], "a tool's name") if "tool" in given else ""
        self.tools = [self.tool] if self.tool else []
        self.least = limits.get("exactly", limits.get("at_least", 0))
        self.most = limits.get("exactly", limits.get("at_most"))
        if self.most is not None and self.least > self.most:
            raise ValueError(f"expects at_least to be no more than at_most, got {self.least} and {self.most}")
        self.wanted = " and ".join(f"{bound.replace('_', ' ')} {count}" for bound, count in limits.items())

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Count the calls."""
        made = trace.tools_called.count(self.tool) if self.tool else len(trace.tools_called)
        passed = self.least <= made and (self.most is None or made <= self.most)
        of = f"calls of {self.tool!r}" if self.tool else "calls of tools"
        reason = f"{made} {of}" if passed else f"expected {self.wanted} {of}; {_called(trace.tools_called)}"
        return Check(evaluator="tool_count", passed=passed, reason=reason)


_BOUNDS = ("exactly", "at_least", "at_most")


def _calls(count: JsonValue) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"expects a number of calls, 0 or more, got {count!r}")
    return count


class ToolOrder(NamesTools):
    """`tool_order: [NAME, ...]` or `{tools: [NAME, ...], mode: MODE}`: the tools are called in this way.

    Modes, all of which count repeated calls: `subsequence` (the default; in this order, with anything
    between), `strict` (exactly these calls in this order), `unordered` (exactly these calls in any
    order), `subset` (no call beyond these), `superset` (at least these calls, in any order).
    """

    def __init__(self, argument: JsonValue) -> None:
        given: dict[str, JsonValue] = {"tools": argument}
        if isinstance(argument, dict):
            given = arguments.mapping(argument, ["tools"], ["mode"])
        if not isinstance(given["tools"], list):
            raise ValueError(f"expects a list of tool names, got {given['tools']!r}")
        self.tools = arguments.texts(given["tools"], "a list of tool names")
        self.fault = _mode(given.get("mode", "subsequence"))

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Compare the calls with the list."""
        fault = self.fault(self.tools, trace.tools_called)
        called = _called(trace.tools_called)
        return Check(
            evaluator="tool_order", passed=not fault, reason=f"{fault}; {called}" if fault else called
        )


OrderFault = Callable[[Sequence[str], Sequence[str]], str]


def _mode(name: JsonValue) -> OrderFault:
    modes: dict[str, OrderFault] = {
        "subsequence": _subsequence_fault,
        "strict": _strict_fault,
        "unordered": _unordered_fault,
        "subset": _subset_fault,
        "superset": _superset_fault,
    }
    if not isinstance(name, str) or name not in modes:
        raise ValueError(f"unknown mode {name!r}. {nearest(str(name), modes)}")
    return modes[name]


def _subsequence_fault(expected: Sequence[str], called: Sequence[str]) -> str:
    position = 0
    for index, tool in enumerate(expected):
        if tool not in called[position:]:
            return _out_of_order(expected, index, called[position:])
        position = list(called).index(tool, position) + 1
    return ""


def _out_of_order(expected: Sequence[str], index: int, remaining: Sequence[str]) -> str:
    later = [tool for tool in expected[index + 1 :] if tool in remaining]
    if later:
        return f"expected tool {expected[index]!r} before {later[0]!r}"
    if index:
        return f"expected tool {expected[index]!r} after {expected[index - 1]!r}"
    return f"expected tool {expected[index]!r}"


def _strict_fault(expected: Sequence[str], called: Sequence[str]) -> str:
    return "" if list(expected) == list(called) else f"expected exactly {_names(expected)} in this order"


def _unordered_fault(expected: Sequence[str], called: Sequence[str]) -> str:
    return "" if Counter(expected) == Counter(called) else f"expected exactly {_names(expected)} in any order"


def _subset_fault(expected: Sequence[str], called: Sequence[str]) -> str:
    extra = Counter(called) - Counter(expected)
    return (
        f"expected no call beyond {_names(expected)}; too many: {_names(extra.elements())}" if extra else ""
    )


def _superset_fault(expected: Sequence[str], called: Sequence[str]) -> str:
    missing = Counter(expected) - Counter(called)
    return f"expected at least {_names(expected)}; missing: {_names(missing.elements())}" if missing else ""


class MaxSteps:
    """`max_steps: N`: the run has at most N steps: model calls, tool calls and answers together."""

    def __init__(self, argument: JsonValue) -> None:
        what = "a number of steps, at least 1"
        self.limit = arguments.number(argument, what)
        if not isinstance(argument, int) or argument < 1:
            raise ValueError(f"expects {what}, got {argument!r}")

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Count the steps of the trace."""
        taken = len(trace.steps)
        reason = f"took {taken} steps, at most {self.limit} allowed"
        return Check(evaluator="max_steps", passed=taken <= self.limit, reason=reason)


NO_CALL = "cost unknown: no model call was seen"


class MaxCost:
    """`max_cost: USD`: the model calls of the run cost at most this much.

    A run without any model call that is seen fails.
    """

    def __init__(self, argument: JsonValue) -> None:
        self.limit = arguments.number(argument, "an amount in US dollars")

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Compare the cost of the trace with the limit. Raise `EvaluatorError` where a price is not known."""
        if not asks_a_model(trace):
            return Check(evaluator="max_cost", passed=False, reason=NO_CALL)
        usd = known_cost(trace)
        reason = f"cost ${usd:.6g}, at most ${self.limit:.6g} allowed"
        return Check(evaluator="max_cost", passed=usd <= self.limit, reason=reason)


class MaxSeconds:
    """`max_seconds: N`: the run takes at most so many seconds of wall-clock time.

    All that passes counts: a busy machine, a slow model service, and the waiting of
    `execution.requests_per_minute`. The limit should leave room for them.
    """

    def __init__(self, argument: JsonValue) -> None:
        what = "a number of seconds above 0"
        self.limit = arguments.number(argument, what)
        if self.limit <= 0:
            raise ValueError(f"expects {what}, got {argument!r}")

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Compare the duration of the trace with the limit."""
        reason = f"took {trace.seconds:.3g} s, at most {self.limit:g} s allowed"
        return Check(evaluator="max_seconds", passed=trace.seconds <= self.limit, reason=reason)


def asks_a_model(trace: AgentTrace) -> bool:
    """Return whether a model call was seen; without one nothing is known of the cost."""
    return any(step.action is Action.REASON for step in trace.steps)


def known_cost(trace: AgentTrace) -> float:
    """Return the cost of a run in US dollars.

    Raises `EvaluatorError` where a model answered at an unknown price: that says nothing about the agent.
    """
    if (usd := trace.usd) is not None:
        return usd
    if silent := trace.unreported_models:
        said = f"the replies of model {_models(silent)} report no tokens, so their cost is unknown"
    else:
        said = f"price of model {_models(trace.unpriced_models)} unknown, set budget.prices"
    raise EvaluatorError(said, "the cost of a model call is unknown, set budget.prices")


def _models(names: Iterable[str]) -> str:
    return ", ".join(sorted(name or "(unnamed)" for name in names))


def _names(tools: Iterable[str]) -> str:
    return ", ".join(repr(tool) for tool in tools)


def _called(tools: Sequence[str]) -> str:
    return f"called: {', '.join(tools)}" if tools else "called: no tool"


def _arguments(values: dict[str, JsonValue]) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in values.items())
