"""Agents that hang on an order."""

from typing import Any

from agentmut.config import AgentConfig
from tests.quality.faulty_agents.cases import Case
from tests.quality.faulty_agents.harness import ask, at_length

RETURNS = """# Returns

Unused goods can be returned within 30 days of delivery, and we pay the postage.
Gift cards cannot be returned at all.
"""
SHIPPING = """# Shipping

Express shipping arrives on the next working day.
Standard shipping takes 4 working days.
"""


def careful(config: AgentConfig, input: Any) -> str:
    """Sends everything, and says what comes back at length."""
    return at_length(ask(config, str(input)))


def first_document_only(config: AgentConfig, input: Any) -> str:
    """Cuts the context to what it takes for the best hit."""
    return at_length(ask(config, str(input), documents=config.context[:1]))


CASES = (
    Case(
        "permutation.document_order",
        "reads the first document only",
        first_document_only,
        careful,
        (
            {
                "name": "deadline",
                "input": "Until when can unused goods be returned?",
                "evaluators": [{"contains": "30"}],
            },
        ),
        documents={"returns.md": RETURNS, "shipping.md": SHIPPING},
    ),
)
