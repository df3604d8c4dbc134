"""A search before its first trial."""

from agentmut.campaign import RunPlan


class SearchPlan(RunPlan):
    """A search before its first trial. `scenarios` are those of the suite; what is tried follows from the seed."""

    kind: str = "suggest"
    trials: int
    """Most runs of the search, those that were reused included: so the same command ends the same way."""
    repeats: int
