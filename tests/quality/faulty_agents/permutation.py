"""Agents that hang on an order."""

import re
from typing import Any

from agentmut.nouns.config import AgentConfig
from tests.quality.faulty_agents.cases import Case
from tests.quality.faulty_agents.harness import ask, at_length, content_words
from tests.quality.faulty_agents.shop import PLANS, POLICY, SHIPPING, TOOLBOX


def careful(config: AgentConfig, input: Any) -> str:
    """Sends everything, and says what comes back at length."""
    return at_length(ask(config, str(input), toolbox=TOOLBOX))


def first_document_only(config: AgentConfig, input: Any) -> str:
    """Cuts the context down to the best hit, which it takes to be the first."""
    return at_length(ask(config, str(input), documents=config.context[:1]))


def first_tool_that_fits(config: AgentConfig, input: Any) -> str:
    """Offers the model the first tool whose description shares a word with the request."""
    asked = content_words(str(input))
    fitting = [tool for tool in config.tools if asked & content_words(tool.description)]
    return at_length(ask(config, str(input), offered=fitting[:1], toolbox=TOOLBOX))


def first_question_only(config: AgentConfig, input: Any) -> str:
    """Takes what stands before the first question mark for the whole request."""
    return at_length(ask(config, str(input).partition("?")[0] + "?"))


def first_option(config: AgentConfig, input: Any) -> str:
    """Looks up the option that is named first."""
    name = re.split(r"[:,]", str(input))[1].strip()
    return at_length(f"Take the plan {name}. " + ask(config, f"What does Plan {name} cost?"))


_DEADLINE = "Until when can unused goods be returned?"
CASES = (
    Case(
        "permutation.document_order",
        "reads the first document only",
        first_document_only,
        careful,
        ({"name": "deadline", "input": _DEADLINE, "evaluators": [{"regex": "30|thirty"}]},),
        documents=POLICY,
    ),
    Case(
        "permutation.tool_order",
        "takes the first tool that shares a word",
        first_tool_that_fits,
        careful,
        (
            {
                "name": "status",
                "input": "Please look up the status of my order A-1042.",
                "evaluators": [{"contains": "in transit"}],
            },
        ),
        prompt="You help customers with their orders.",
        tools="tests.quality.faulty_agents.shop:DESK",
    ),
    Case(
        "permutation.question_order",
        "answers the first question only",
        first_question_only,
        careful,
        (
            {
                "name": "two_questions",
                "input": f"{_DEADLINE} When does express shipping arrive?",
                "evaluators": [{"regex": "30|thirty"}],
            },
        ),
        documents=POLICY,
    ),
    Case(
        "permutation.option_order",
        "takes the first option",
        first_option,
        careful,
        (
            {
                "name": "plan",
                "input": "Which plan includes the export of reports: Basic, Pro or Enterprise?",
                "evaluators": [{"contains": "Pro"}],
            },
        ),
        documents={"plans.md": PLANS, "shipping.md": SHIPPING},
    ),
)
