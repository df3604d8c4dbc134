"""How much of an agent a suite exercises (section 4 of the AgentAssay paper, and two dimensions besides)."""
