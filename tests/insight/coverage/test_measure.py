"""The five dimensions on small agents, with values worked out by hand."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.dimensions import states_part
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage, Dimension
from agentmut.insight.coverage.sightings import Sightings
from agentmut.insight.coverage.states import State
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

CANCEL = ToolSpec(name="cancel_order")
REFUND = ToolSpec(
    name="refund",
    parameters={
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0, "maximum": 500},
            "note": {"type": "string"},
        },
        "required": ["amount"],
    },
)
AGENT = AgentConfig(tools=(CANCEL, REFUND), model=ModelConfig(name="gpt-5.2"))


def reason(model: str = "gpt-5.2-2026-01-01", **more: Any) -> Step:
    return Step(action=Action.REASON, model=model, **more)


def call(tool: str, **arguments: Any) -> Step:
    return Step(action=Action.CALL_TOOL, tool=tool, arguments=arguments)


ANSWER = Step(action=Action.RESPOND)


def run(*steps: Step) -> AgentTrace:
    return AgentTrace(steps=steps, outputs=("done",))


def names(coverage: Coverage, dimension: Dimension, *, covered: bool) -> list[str]:
    items = coverage.covered if covered else coverage.uncovered
    return [item.name for item in items if item.dimension is dimension]


def measured(*traces: AgentTrace, config: AgentConfig = AGENT, **settings: Any) -> Coverage:
    return measure({"one": traces}, config, CoverageSettings(**settings))


def test_a_tool_that_no_run_calls_is_uncovered() -> None:
    coverage = measured(run(reason(), call("refund", amount=20), ANSWER))
    assert coverage.of(Dimension.TOOL).value == 0.5
    assert [str(item) for item in coverage.uncovered if item.dimension is Dimension.TOOL] == [
        "tool cancel_order"
    ]


def test_calls_of_tools_that_the_config_does_not_have_are_said_and_not_counted() -> None:
    coverage = measured(run(reason(), call("refnd"), ANSWER))
    assert coverage.of(Dimension.TOOL).covered == 0
    assert "refnd" in coverage.notes[0]


def test_a_call_under_an_offered_name_counts_for_the_agents_own_tool() -> None:
    renamed = AGENT.model_copy(update={"tools": (ToolSpec(name="pay_back", implemented_by="refund"),)})
    assert measured(run(call("pay_back")), config=renamed).of(Dimension.TOOL).value == 1.0


def test_an_agent_without_tools_has_no_tool_coverage_and_it_is_in_no_mean() -> None:
    bare = AgentConfig(model=ModelConfig(name="gpt-5.2"))
    coverage = measured(run(reason(), ANSWER), run(reason(), ANSWER), config=bare, states=2)
    assert coverage.of(Dimension.TOOL).value is None
    assert coverage.of(Dimension.BOUNDARY).value is None
    assert "no tools" in coverage.of(Dimension.TOOL).basis
    # one path, seen twice: 1 of 1; two states with lambda 2; one model of one
    assert coverage.overall == pytest.approx((1.0 * (1 - math.exp(-1)) * 1.0) ** (1 / 3))


def test_paths_are_estimated_by_chao1() -> None:
    once = [run(reason(), *[call("refund")] * n, ANSWER) for n in (1, 2, 3)]
    twice = [run(reason(), ANSWER)] * 2
    row = measured(*once, *twice).of(Dimension.PATH)
    # 4 different ones, f1 = 3, f2 = 1: 4 + 9 / 2
    assert (row.covered, row.total) == (4, 8.5)
    assert row.value == pytest.approx(4 / 8.5)


def test_states_follow_equation_17() -> None:
    coverage = measured(run(reason(), ANSWER), states=4)
    row = coverage.of(Dimension.STATE)
    assert row.covered == 2
    assert row.value == pytest.approx(1 - math.exp(-2 / 4))
    assert "coverage.states" in row.basis


def test_lambda_is_estimated_by_chao1_on_states_and_said_to_be() -> None:
    # reason and the two answers' states in both runs, the states from the call on in the second only
    coverage = measured(run(reason(), ANSWER), run(reason(), call("refund"), ANSWER))
    # states: after reason (2 traces); answer after reason (1); call (1); answer after the call (1): f1 = 3, f2 = 1
    assert coverage.states == 4 + 9 / 2
    assert "Chao1" in coverage.of(Dimension.STATE).basis
    kept = measure(
        {"one": [run(reason(), ANSWER)]},
        AGENT,
        CoverageSettings(),
        CoverageContext(calibrated=coverage.states),
    )
    assert kept.states == 8.5 and "first measurement" in kept.of(Dimension.STATE).basis


def test_texts_and_times_make_no_other_state_but_failures_do() -> None:
    plain = run(call("refund", amount=1), ANSWER)
    other = run(call("refund", amount=2), ANSWER.model_copy(update={"output": "other words", "seconds": 3.0}))
    failed = run(Step(action=Action.CALL_TOOL, tool="refund", error="refused"), ANSWER)
    assert measured(plain, other).of(Dimension.STATE).covered == 2
    assert measured(plain, failed).of(Dimension.STATE).covered == 4


def test_boundaries_are_those_that_the_schemas_state() -> None:
    coverage = measured(run(call("refund", amount=500), ANSWER), run(call("refund", amount=500.0, note="x")))
    assert names(coverage, Dimension.BOUNDARY, covered=True) == [
        "refund.amount maximum",
        "refund.note present",
        "refund.note absent",
    ]
    assert names(coverage, Dimension.BOUNDARY, covered=False) == [
        "refund.amount minimum",
        "refund.amount just above minimum",
        "refund.amount just below maximum",
    ]
    assert coverage.of(Dimension.BOUNDARY).value == 0.5
    (left,) = [each for each in coverage.left_out if each.what == "refund.note"]
    assert "without length" in left.why


def test_models_are_the_agents_own_and_those_it_may_be_swapped_for() -> None:
    traces = {"one": [run(reason(), ANSWER)]}
    beside = CoverageContext(swap_models=("claude-sonnet-4-6", "gpt-5.2"))
    row = measure(traces, AGENT, CoverageSettings(), beside).of(Dimension.MODEL)
    assert (row.covered, row.total) == (1, 2)
    also = CoverageContext(swap_models=("claude-sonnet-4-6",), also_run={"claude-sonnet-4-6": ("one",)})
    assert measure(traces, AGENT, CoverageSettings(), also).of(Dimension.MODEL).value == 1.0


def test_models_of_the_settings_replace_those_and_others_are_only_said() -> None:
    coverage = measured(run(reason("mistral-large"), ANSWER), models=("gpt-5.2",))
    assert coverage.of(Dimension.MODEL).value == 0.0
    assert any("mistral-large" in note for note in coverage.notes)


def test_a_model_whose_every_call_failed_has_not_answered() -> None:
    assert measured(run(reason(error="overloaded"))).of(Dimension.MODEL).covered == 0


def test_without_a_named_model_there_is_no_model_coverage() -> None:
    row = measured(run(reason()), config=AgentConfig(tools=(CANCEL,))).of(Dimension.MODEL)
    assert row.value is None and "coverage.models" in row.basis


def test_weights_shift_the_geometric_mean() -> None:
    trace = run(reason(), call("refund", amount=0), ANSWER)
    weights = {"path": 0, "state": 0, "boundary": 0, "tool": 3}
    # (0.5 ** 3 * 1.0) ** (1 / 4)
    assert measured(trace, weights=weights).overall == pytest.approx(0.125**0.25)
    nothing = {"tool": 0, "path": 0, "state": 0, "boundary": 0, "model": 0}
    assert measured(trace, weights=nothing).overall is None


def test_a_weight_of_something_else_is_refused() -> None:
    with pytest.raises(ValidationError, match="tools"):
        CoverageSettings.model_validate({"weights": {"tools": 1}})


def test_without_traces_everything_is_uncovered() -> None:
    coverage = measure({}, AGENT, CoverageSettings(states=5))
    assert coverage.traces == 0 and coverage.of(Dimension.TOOL).value == 0.0
    assert coverage.of(Dimension.PATH).value is None
    assert coverage.overall == 0.0


def attributed(traces: dict[str, Sequence[AgentTrace]]) -> dict[str, list[str]]:
    coverage = measure(traces, AGENT, CoverageSettings())
    return {
        row.scenario: [i.name for i in row.alone if i.dimension is Dimension.TOOL]
        for row in coverage.scenarios
    }


def test_each_scenario_is_told_what_it_alone_covers() -> None:
    both = run(call("refund"), call("cancel_order"))
    assert attributed({"a": [both], "b": [run(call("refund"))], "c": []}) == {
        "a": ["cancel_order"],
        "b": [],
        "c": [],
    }


def test_states_are_listed_by_name_whatever_order_they_were_seen_in() -> None:
    states = [State("", 0, calls, 0, "none", ("reason",)) for calls in range(6)]
    forth, back = Sightings[State](), Sightings[State]()
    forth.add("s", states)
    back.add("s", states[::-1])
    assert list(states_part(forth, 9.0, "given").covered) == list(states_part(back, 9.0, "given").covered)
