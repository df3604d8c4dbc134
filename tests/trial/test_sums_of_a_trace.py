"""The sums over the steps of a run: tokens, cost, and models without a price."""

from agentmut.nouns import Action, AgentTrace, Step, Usage
from agentmut.nouns.trace import Recalled

ASKED = Step(action=Action.REASON, model="a", usage=Usage(input_tokens=10, output_tokens=5), usd=0.25)
CACHED = ASKED.model_copy(update={"usage": Usage(input_tokens=8, cached_tokens=6), "saved_usd": 0.125})
CALLED = Step(action=Action.CALL_TOOL, tool="search", arguments={"query": "cats"}, output=["one", None])
UNPRICED = Step(action=Action.REASON, model="b", usage=Usage(output_tokens=1))
SILENT = Step(action=Action.REASON, model="c")
FAILED = Step(action=Action.REASON, model="d", error="gone")


def test_costs_are_added_up_over_all_model_calls() -> None:
    trace = AgentTrace(steps=(ASKED, CALLED, CACHED, FAILED), outputs=("done",))
    assert (trace.paid_tokens, trace.cached_tokens) == (23, 6)
    assert (trace.usd, trace.paid_usd, trace.cache_saved_usd) == (0.5, 0.5, 0.125)
    assert (trace.unpriced_models, trace.tools_called) == (frozenset(), ("search",))


def test_an_answer_without_a_price_makes_the_cost_unknown() -> None:
    trace = AgentTrace(steps=(ASKED, UNPRICED, SILENT, FAILED))
    assert (trace.usd, trace.paid_usd) == (None, None)
    assert (trace.unpriced_models, trace.unreported_models) == (frozenset({"b", "c"}), frozenset({"c"}))


def test_recorded_replies_are_paid_for_once() -> None:
    recalled = Recalled(model="a", requests=1, usage=Usage(input_tokens=10, output_tokens=5), usd=0.25)
    trace = AgentTrace(steps=(ASKED, CACHED), recalled=(recalled,))
    assert (trace.paid_tokens, trace.cached_tokens) == (8, 0)
    assert (trace.usd, trace.paid_usd, trace.cache_saved_usd) == (0.5, 0.25, 0.0)


def test_sums_follow_a_change_of_the_steps() -> None:
    before = AgentTrace(steps=(UNPRICED,), outputs=("done",))
    assert (before.usd, before.characters) == (None, 4)
    after = before.model_copy(update={"steps": (ASKED, CALLED)})
    assert (after.usd, after.characters) == (0.25, 4 + len("querycats") + len("one"))
