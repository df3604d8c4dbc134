"""What a suite exercises of an agent, from stored traces: `measure(traces, config, settings)`."""

from agentmut.analysis.coverage.beside import Beside
from agentmut.analysis.coverage.measure import measure
from agentmut.analysis.coverage.nouns import (
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
