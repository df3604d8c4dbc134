"""A note on tools that the agent calls and that its config does not list, so that no mutant changes them."""

from collections.abc import Iterator

from agentmut.campaign.decision.state import CampaignState
from agentmut.nouns import AgentConfig, OperatorClass

NAMED = 3


def unlisted_tools_notes(config: AgentConfig, state: CampaignState) -> Iterator[str]:
    """Yield a note where runs called tools and the config has none; nothing where mutants of one class were asked for.

    A config without tools has no mutants of tools, which would go unsaid.
    """
    called = sorted({tool for baseline in state.baselines.values() for tool in baseline.tools})
    classes = {mutant.operator_class for mutant in state.plan.mutants}
    if called and not config.tools and len(classes) > 1 and OperatorClass.TOOL not in classes:
        more = f" and {len(called) - NAMED} more" if len(called) > NAMED else ""
        yield (
            f"runs called tools that agent.config.tools does not list, so no mutant changes a tool: "
            f"{', '.join(called[:NAMED])}{more}. List them, or let `agentmut doctor --save-request agent.json` write "
            "them down for agent.config.request"
        )
