"""Sentences and documents that are unrelated to an agent's requests."""

from collections.abc import Iterable, Mapping

from agentmut._base import shipped
from agentmut.language import stems
from agentmut.nouns import AgentConfig, Document, Scenario

_SHIPPED = shipped("agentmut.relations.perturbation", "wording")
REMARKS = tuple(_SHIPPED["remarks"])
"""What a user may mention in passing. Without figures, names, questions and wishes."""
DOCUMENTS = tuple(Document(**plain) for plain in _SHIPPED["documents"])
TASKS: Mapping[str, str] = _SHIPPED["tasks"]
"""Small tasks that ask for more in the same answer."""
CONDITIONS: Mapping[str, str] = _SHIPPED["conditions"]
"""Conditions on an answer that say nothing of what it is about."""


def unrelated_remarks(scenario: Scenario, config: AgentConfig) -> tuple[str, ...]:
    """Return the remarks that share no content word with the agent and the request."""
    domain = stems(_domain(scenario, config))
    return tuple(remark for remark in REMARKS if not stems(remark) & domain)


def unrelated_documents(scenario: Scenario, config: AgentConfig) -> tuple[Document, ...]:
    """Return the documents that no agent's topic touches: their names share no word with it."""
    domain = stems(_domain(scenario, config))
    taken = {document.name for document in config.context}
    return tuple(d for d in DOCUMENTS if d.name not in taken and not stems(d.name) & domain)


def _domain(scenario: Scenario, config: AgentConfig) -> str:
    tools: Iterable[str] = (f"{tool.name} {tool.description}" for tool in config.tools)
    documents = (f"{document.name} {document.text}" for document in (*config.context, *scenario.context))
    return "\n".join((config.prompt, *map(str, scenario.turns), *tools, *documents))
