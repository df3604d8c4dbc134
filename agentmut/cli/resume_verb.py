"""`agentmut resume`."""


def resume() -> None:
    """Do resume."""
