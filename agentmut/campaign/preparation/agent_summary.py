"""The agent's name and kind, as reports show them."""

from agentmut.campaign.preparation.session import Session
from agentmut.nouns import AgentSummary


def agent_of(session: Session) -> AgentSummary:
    """Return the agent of today, for the record."""
    spec = session.project.agent
    name = spec.factory or spec.run or spec.functions or ""
    return AgentSummary(adapter=spec.adapter, digest=session.suite.full.digest, name=name)
