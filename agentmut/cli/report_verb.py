"""`agentmut report`."""


def report() -> None:
    """Do report."""
