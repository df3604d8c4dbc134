"""What reports show besides a result."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentmut.insight.coverage.nouns import Coverage
    from agentmut.store.documents.relation_report import RelationReport, SurvivorsReport
    from agentmut.store.documents.rescored import Rescored


class Extra(NamedTuple):
    """What a run's folder holds besides `result.json`."""

    rescored: "Rescored | None" = None
    relations: "tuple[RelationReport | SurvivorsReport, ...]" = ()
    coverage: "Coverage | None" = None
