"""`agentmut report`: render a stored run again."""

from pathlib import Path
from typing import TYPE_CHECKING

from agentmut.cli.options import Classes, Json, Mutants, Operators, ProjectPath, RunId, Scenarios

if TYPE_CHECKING:
    from agentmut.result import MutantRow


def report(
    run: RunId = None,
    project: ProjectPath = Path(),
    classes: Classes = None,
    operators: Operators = None,
    mutants: Mutants = None,
    scenarios: Scenarios = None,
    as_json: Json = False,
) -> None:
    """Print a stored run again; nothing is executed.

    Filters narrow the mutants that are listed; the scores stay those of the whole run.

    Example: agentmut report --class tool
    """
    from agentmut.cli.output import print_result
    from agentmut.cli.runs import find_result

    def wanted(row: "MutantRow") -> bool:
        tried = {item.scenario for item in row.evidence}
        return (
            (not classes or row.operator_class in classes)
            and (not operators or row.operator in operators)
            and (not mutants or row.id.startswith(tuple(mutants)))
            and (not scenarios or bool(tried.intersection(scenarios)))
        )

    result = find_result(project, run)
    kept = tuple(row for row in result.mutants if wanted(row))
    print_result(result.model_copy(update={"mutants": kept}), as_json)
