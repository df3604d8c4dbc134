"""Values of calls: slips are told, what was worked out is left alone, and nothing else is called given."""

from typing import Any

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.relation import Pair
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Check, Step
from agentmut.relations.base import call, run, source
from agentmut.relations.oracle.tool_arguments import ToolArguments


def judged(request: str, *steps: Step, config: AgentConfig | None = None) -> Check | None:
    asked = source(request, answer=run("Done.", steps=steps), config=config)
    follow_up = ToolArguments().follow_up(asked)
    assert follow_up is not None
    comparison = comparison_for(asked.scenario)
    return ToolArguments().holds(Pair(asked.scenario, asked.config, asked.trace, follow_up, (), comparison))


@pytest.mark.parametrize(("request_", "arguments"), [
    ("Refund $50 for A-1042", {"amount": 500}),
    ("Refund $50 for A-1042", {"amount": 40}),
    ("Refund $50 for A-1042", {"amount": 0.5}),
    ("Refund $120 for A-1042", {"amount": 12}),
    ("Refund $120 for A-1042", {"amount": 210}),
    ("Refund $120.50 for A-1042", {"amount": 120.05}),
    ("Refund $129 for A-1042", {"amount": 139}),
    ("Refund order 1042", {"order_id": 1024}),
    ("Refund A-7", {"order_id": "A-8"}),
    ("Refund A-1042", {"order_id": "1043"}),
    ("Refund A-1042", {"order_id": "B-1042"}),
    ("Refund A-1042", {"amount_id": "A-1024"}),
    ("Order A-1042, please", {"paid_order": "A-1024"}),
    ("Mail bob@example.com", {"to": "rob@example.com"}),
    ("Mail bob@example.com", {"to": "eve@evil.com"}),
])  # fmt: skip
def test_a_value_that_was_spoilt_is_told(request_: str, arguments: dict[str, Any]) -> None:
    check = judged(request_, call("refund", **arguments))
    assert check is not None
    assert not check.passed
    assert "but given is" in check.reason


@pytest.mark.parametrize(("request_", "tool", "arguments"), [
    ("I want 2 more of the article KB-204", "search", {"q": "KB-2040"}),
    ("It is order A-1042; next is needed", "create_order", {"order_id": "A-1043"}),
    ("Price 100 for 10 items", "pay", {"total": 1000}),
    ("Price 125 for 10 items", "pay", {"total": 1250}),
    ("10% of 125.0", "pay", {"fee": 12.5}),
    ("A tenth of $125, please", "pay", {"fee": 12.5}),
    ("Pay $50 each to Ann, Bob and Cy", "pay", {"total": 150}),
    ("Refund $50 plus $5", "pay", {"amount": 55}),
    ("Pay $120 in cents", "pay", {"amount": 12000}),
    ("Refund $50", "pay", {"amount": 5000}),  # may be in cents
    ("order 1042", "get", {"limit": 1043}),
    ("Refund order 42", "refund", {"order_id": 24}),
    ("Mail bob@example.com", "mail", {"to": "anna.smith@example.com"}),
    ("Refund A-7 or A-9", "refund", {"order_id": "A-8"}),
    ("Where is A-1042?", "get", {"order_id": "TCK-99"}),
])  # fmt: skip
def test_a_value_that_cannot_be_told_says_nothing(
    request_: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert judged(request_, call(tool, **arguments)) is None


def test_a_hundred_times_an_amount_is_told_where_the_tool_counts_in_dollars() -> None:
    properties = {"amount": {"type": "number", "description": "In dollars."}}
    tool = ToolSpec(name="refund", parameters={"type": "object", "properties": properties})
    check = judged("Refund $50", call("refund", amount=5000), config=AgentConfig(tools=(tool,)))
    assert check is not None
    assert not check.passed


def test_only_values_that_were_given_are_called_given() -> None:
    check = judged("Refund $50 plus tax for A-1042", call("refund", amount=53, order_id="A-1042"))
    assert check is not None
    assert check.passed
    assert check.reason == "as they were given: order_id A-1042"


def test_the_number_after_one_that_is_used_may_be_another_order() -> None:
    assert judged("Where is A-1042?", call("get", order_id="A-1043")) is not None
    both = judged("Where is A-1042?", call("get", order_id="A-1042"), call("get", order_id="A-1043"))
    assert both is not None
    assert both.passed
    swapped = judged("Where is A-1042?", call("get", order_id="A-1042"), call("get", order_id="A-1024"))
    assert swapped is not None
    assert not swapped.passed
