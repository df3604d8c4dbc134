"""`agentmut show`."""


def show() -> None:
    """Do show."""
