"""A library's desk: an agent of LangGraph with one tool, built for each trial by a factory."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from agentmut.adapters.langgraph import config_middleware


@tool
def find_book(title: str) -> str:
    """Look up where a book stands."""
    return f"{title} stands on shelf 7."


def build(config: Any) -> Any:
    """Return the graph of a config."""
    return create_agent(ChatOpenAI(model="gpt-5.2"), [find_book], middleware=[config_middleware(config)])
