"""Theorem 4.1: with fixed targets and lambda, more runs never cover less; path alone may fall."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Dimension
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

TOOLS = tuple(
    ToolSpec(
        name=name,
        parameters={
            "type": "object",
            "properties": {
                "amount": {"type": "integer", "minimum": 0, "maximum": 9},
                "kind": {"enum": ["a", "b"]},
                "items": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
            },
        },
    )
    for name in ("find", "pay")
)
CONFIG = AgentConfig(tools=TOOLS, model=ModelConfig(name="m-1"))
SETTINGS = CoverageSettings(states=20, models=("m-1", "m-2"))
FIXED = (Dimension.TOOL, Dimension.BOUNDARY, Dimension.MODEL, Dimension.STATE)

arguments = st.fixed_dictionaries(
    {},
    optional={
        "amount": st.integers(-1, 10) | st.none(),
        "kind": st.sampled_from(["a", "b", "c"]),
        "items": st.lists(st.booleans() | st.integers(), max_size=4),
    },
)
calls = st.builds(
    Step,
    action=st.just(Action.CALL_TOOL),
    tool=st.sampled_from(["find", "pay", "other"]),
    arguments=arguments,
    error=st.none() | st.just("no"),
)
replies = st.builds(
    Step,
    action=st.just(Action.REASON),
    model=st.sampled_from(["m-1", "m-2-2026-01-01", "m-3"]),
    turn=st.integers(0, 5),
)
runs = st.lists(calls | replies, max_size=6).map(lambda steps: AgentTrace(steps=tuple(steps)))


@settings(deadline=None, max_examples=30)
@given(st.lists(runs, max_size=4), st.lists(runs, min_size=1, max_size=3))
def test_adding_runs_never_lowers_what_they_cover(before: list[AgentTrace], more: list[AgentTrace]) -> None:
    first = measure({"s": before}, CONFIG, SETTINGS)
    then = measure({"s": before, "t": more}, CONFIG, SETTINGS)
    for dimension in FIXED:
        low, high = first.of(dimension), then.of(dimension)
        assert (low.value or 0.0) <= (high.value or 0.0) <= 1.0
        assert dimension is Dimension.STATE or low.total == high.total
    assert set(first.covered) <= set(then.covered)


@settings(deadline=None, max_examples=30)
@given(st.lists(runs, max_size=4), st.lists(runs, max_size=3))
def test_what_is_covered_is_the_union_of_the_scenarios(one: list[AgentTrace], two: list[AgentTrace]) -> None:
    coverage = measure({"one": one, "two": two}, CONFIG, SETTINGS)
    own = [set(row.covered) for row in coverage.scenarios]
    assert set(coverage.covered) == set.union(*own)
    assert not set(coverage.covered) & set(coverage.uncovered)
    assert [set(row.alone) for row in coverage.scenarios] == [own[0] - own[1], own[1] - own[0]]
