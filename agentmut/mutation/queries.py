"""Arguments in which a tool takes what is looked for."""

from typing import Any

from agentmut.nouns import ToolSpec

QUERIES = frozenset(
    {
        "query",
        "queries",
        "q",
        "question",
        "search",
        "search_query",
        "search_term",
        "search_terms",
        "term",
        "terms",
    }
    | {"keyword", "keywords", "text_query", "suchbegriff", "suchbegriffe", "anfrage", "frage"}
)
"""Names of parameters that take words to look for, in lower case."""
_GENERAL = "general meaning, definition and overview"


def takes_query(tool: ToolSpec) -> bool:
    """Return whether a tool has a parameter that takes words to look for."""
    properties = tool.parameters.get("properties")
    return isinstance(properties, dict) and any(name.lower() in QUERIES for name in properties)


def expanded(arguments: Any) -> Any:
    """Return the arguments of a call with words of a general meaning behind each query.

    >>> expanded({"query": "PE terminal", "top_k": 3})
    {'query': 'PE terminal general meaning, definition and overview', 'top_k': 3}
    """
    if not isinstance(arguments, dict):
        return arguments
    return {name: _longer(value) if name.lower() in QUERIES else value for name, value in arguments.items()}


def _longer(value: Any) -> Any:
    if isinstance(value, list):
        return [_longer(each) for each in value]
    return f"{value} {_GENERAL}" if isinstance(value, str) and value.strip() else value
