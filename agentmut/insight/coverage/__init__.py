"""What a suite exercises of an agent, from stored traces: `measure(traces, config, settings)`."""

from agentmut.insight.coverage.beside import Beside
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
    "Beside",
    "Coverage",
    "CoverageItem",
    "Dimension",
    "DimensionCoverage",
    "LeftOut",
    "RuleCoverage",
    "ScenarioCoverage",
    "measure",
]
