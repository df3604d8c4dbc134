"""The order of what an agent is given should not matter."""
