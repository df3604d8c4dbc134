"""temp."""


def safety_factor(n0: int, alpha: float) -> float:
    """temp."""
    return 0.95
