"""New scenarios, guided by coverage (Algorithm 1 of the AgentAssay paper)."""
