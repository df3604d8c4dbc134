"""The seams: what a plugin of each kind looks like to the core."""

from agentmut.seams.protocols.adapter import (
    Adapter,
    AgentKeys,
    AgentSpec,
    AsksAgent,
    AsksNoModel,
    AsksService,
    ChoosesRoute,
    KnowsApi,
    KnowsOriginal,
    NeedsDoubles,
    RunsOutside,
    TakesKeys,
)
from agentmut.seams.protocols.evaluator import AsksModel, Evaluator, GivesChecks, Notes, ReadsFiles
from agentmut.seams.protocols.operator import Example, Operator, OperatorOptions
from agentmut.seams.protocols.relation import Relation, RelationExample
from agentmut.seams.protocols.report_format import ReportFormat
from agentmut.seams.protocols.suite import (
    HoldsInputs,
    Importer,
    KeepsOpen,
    RunsAlone,
    RunsCases,
    SetsRule,
    SuiteRule,
    SuiteSpec,
)

__all__ = [
    "Adapter",
    "AgentKeys",
    "AgentSpec",
    "AsksAgent",
    "AsksModel",
    "AsksNoModel",
    "AsksService",
    "ChoosesRoute",
    "Evaluator",
    "Example",
    "GivesChecks",
    "HasEffect",
    "HasSource",
    "HoldsInputs",
    "Importer",
    "KeepsOpen",
    "KnowsApi",
    "KnowsOriginal",
    "NamesTools",
    "NeedsDoubles",
    "Notes",
    "Operator",
    "OperatorOptions",
    "ReadsFiles",
    "Relation",
    "RelationExample",
    "ReportFormat",
    "RunsAlone",
    "RunsCases",
    "RunsOutside",
    "SetsRule",
    "SuiteRule",
    "SuiteSpec",
    "TakesKeys",
]
