"""Three-valued verdicts: evidence for, evidence against, or not enough of either."""

from enum import StrEnum


class Verdict(StrEnum):
    """What trials say about a requirement."""

    PASS = "PASS"
    """Evidence that the requirement is met."""
    FAIL = "FAIL"
    """Evidence that it is not."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Not enough evidence either way."""
