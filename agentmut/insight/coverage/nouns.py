"""Coverage as data: items, dimensions, scenarios, rules."""

from enum import StrEnum

from pydantic import Field

from agentmut._base import Frozen
from agentmut.nouns import Origins


class Dimension(StrEnum):
    """A dimension of coverage. The first five are those of the AgentAssay paper (Definition 4.1)."""

    TOOL = "tool"
    """Tools that were called."""
    PATH = "path"
    """Sequences of actions and tools, or routes through an explicit graph."""
    STATE = "state"
    """Abstract states that runs were in."""
    BOUNDARY = "boundary"
    """Edges of the domains of tool parameters."""
    MODEL = "model"
    """Models that answered."""
    NODE = "node"
    """Nodes of an explicit graph that were entered."""
    EDGE = "edge"
    """Edges of an explicit graph that were taken."""
    RULE = "rule"
    """Instructions of the prompt that a scenario's words reach."""
    ABLATION = "ablation"
    """Instructions of the prompt whose loss or negation a campaign saw."""


PAPER = (Dimension.TOOL, Dimension.PATH, Dimension.STATE, Dimension.BOUNDARY, Dimension.MODEL)
"""The dimensions that make up the overall coverage (Eq. 13)."""


class CoverageItem(Frozen):
    """An item that a run covers or not. Its text is stable: `tool cancel_order`, `edge a -> b`,
    `boundary refund.amount minimum`, `rule prompts/system.md:12`.
    """

    dimension: Dimension
    name: str
    tool: str = ""
    """The tool whose parameter a boundary is."""
    parameter: str = ""
    """The place of a boundary in the arguments, such as `items[].price`."""
    example: str = ""
    """A value on a boundary, as JSON; empty where the parameter has to be left out, or none is known."""
    text: str = ""
    """What a rule says."""

    def __str__(self) -> str:
        return f"{self.dimension.value} {self.name}"


class DimensionCoverage(Frozen):
    """The coverage of one dimension: the number of covered items and the total."""

    dimension: Dimension
    covered: int
    total: float | None
    """What `covered` is a part of: a count, or an estimate; lambda of `state`. None where there is none."""
    value: float | None
    """In [0, 1]; None where the agent has no such dimension."""
    basis: str
    """How the total was found, or why there is no value."""
    weight: float | None = None
    """In the overall coverage; None for dimensions that are not in it."""
    target: float | None = None
    """What `coverage.target` aims at; None where it says nothing."""


class ScenarioCoverage(Frozen):
    """The coverage of one scenario."""

    scenario: str
    traces: int
    covered: tuple[CoverageItem, ...]
    alone: tuple[CoverageItem, ...]
    """The covered items that no other scenario covers."""


class RuleCoverage(Frozen):
    """The coverage of an instruction: by the words of runs, and by ablation."""

    item: CoverageItem
    reach: float | None
    """The largest share of its content words' stems in one turn of a run; None without such words."""
    scenario: str = ""
    """Whose run that was."""
    ablation: str = ""
    """What became of mutants that drop or negate it: killed, changed (behaviour did, the suite is silent), silent,
    uncompared (a survivor, whose behaviour was not compared), or empty where none was decided."""
    mutants: tuple[str, ...] = ()
    """Their ids."""


class LeftOut(Frozen):
    """An item that coverage does not count, with the reason."""

    what: str
    why: str


class Coverage(Frozen):
    """The coverage of a suite: Eqs. 13 to 20 of the AgentAssay paper, and further dimensions."""

    overall: float | None
    """Weighted geometric mean of the paper's dimensions that the agent has (Eq. 20); None without any."""
    dimensions: tuple[DimensionCoverage, ...]
    covered: tuple[CoverageItem, ...]
    uncovered: tuple[CoverageItem, ...]
    scenarios: tuple[ScenarioCoverage, ...] = ()
    rules: tuple[RuleCoverage, ...] = ()
    traces: int = 0
    origins: Origins = Origins()
    """The traces, and how many of them another tool recorded."""
    failed: int = 0
    """The traces that ended without an answer."""
    failure: str = ""
    """How the first of these ended, and why."""
    states: float | None = None
    """Lambda: put it into `CoverageSettings.states` to compare a later measurement with this one."""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = Field(default=())

    def of(self, dimension: Dimension) -> DimensionCoverage:
        """Return one dimension. Raise `KeyError` for a dimension that was not measured."""
        for found in self.dimensions:
            if found.dimension is dimension:
                return found
        raise KeyError(dimension)
