"""What reports show besides a result."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentmut.insight import Coverage
    from agentmut.store import RelationReport, Rescored, SurvivorsReport


class Extra(NamedTuple):
    """What a run's folder holds besides `result.json`."""

    rescored: "Rescored | None" = None
    relations: "tuple[RelationReport | SurvivorsReport, ...]" = ()
    coverage: "Coverage | None" = None
