"""What `agentmut.testing.check_operator` looks at."""
