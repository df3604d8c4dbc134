"""The coverage of an agent by a suite, from stored traces: `measure(traces, config, settings)`."""

from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import (
    Coverage,
    CoverageItem,
    Dimension,
    DimensionCoverage,
    LeftOut,
    RuleCoverage,
    ScenarioCoverage,
)

__all__ = [
    "Coverage",
    "CoverageContext",
    "CoverageItem",
    "Dimension",
    "DimensionCoverage",
    "LeftOut",
    "RuleCoverage",
    "ScenarioCoverage",
    "measure",
]
