"""`agentmut suggest`."""
