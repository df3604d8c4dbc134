"""AutoGen's AgentChat."""
