"""`agentmut run`."""


def run() -> None:
    """Do run."""
