"""What `check_adapter` and `check_operator` of `agentmut.testing` look at."""
