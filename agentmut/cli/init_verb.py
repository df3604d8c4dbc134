"""`agentmut init`."""


def init() -> None:
    """Do init."""
