"""`agentmut report`: render a stored run again."""

from pathlib import Path

from agentmut.cli.options import Json, ProjectPath, RunId


def report(run: RunId = None, project: ProjectPath = Path("."), as_json: Json = False) -> None:
    """Print the report of a stored run again; nothing is executed.

    Example: agentmut report 20261122-101500-ab12
    """
    from agentmut.cli.output import print_result
    from agentmut.cli.runs import find_result

    print_result(find_result(project, run), as_json)
