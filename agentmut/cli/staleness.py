"""Whether a stored report still speaks of the project as it is."""

from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import AgentmutError
from agentmut.cli.output import agents_on_stderr

if TYPE_CHECKING:
    from agentmut.usecases import OfAnAgent


def stale_note(project: Path, report: "OfAnAgent") -> str:
    """Return a sentence on what has changed in the project since a run.

    Empty where nothing has, and where that cannot be told: the store does not know the run, or the project cannot be
    read any more.
    """
    from agentmut.project import project_path

    try:
        project_path(project)  # before the imports, which take half a second
        from agentmut.project import load_project
        from agentmut.usecases import changes_since, has_store, stand_in_keys

        with agents_on_stderr(), stand_in_keys():
            loaded = load_project(project)
            known = has_store(loaded)
            changed = changes_since(loaded, report) if known else ""
    except AgentmutError:
        return ""
    if not changed:
        return ""
    note = f"Run {report.run_id} measured an earlier state of the project: {changed}."
    return f"{note} A new run measures the current state."
