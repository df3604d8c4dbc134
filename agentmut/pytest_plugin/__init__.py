"""The pytest plugin: fixtures, tests that are repeated, and `pytest --agentmut`."""
