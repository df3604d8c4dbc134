"""`agentmut mutants`."""


def mutants() -> None:
    """Do mutants."""
