"""`agentmut clean`."""


def clean() -> None:
    """Do clean."""
