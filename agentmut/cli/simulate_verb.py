"""`agentmut simulate`."""


def simulate() -> None:
    """Do simulate."""
