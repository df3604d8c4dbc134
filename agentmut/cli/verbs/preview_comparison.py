"""`agentmut baseline compare --preview`: which drops a comparison will notice, before anything is spent."""

from collections.abc import Sequence

from agentmut.cli.output import print_json, print_page
from agentmut.project import Project
from agentmut.report import render_comparison_preview
from agentmut.store import SavedBaseline
from agentmut.usecases import foreseen_comparison


def print_comparison_preview(project: Project, name: str, scenarios: Sequence[str], as_json: bool) -> None:
    """Print the chances of FAIL by drop and size of the baseline; nothing is run. Raises `UsageError`."""
    saved = foreseen_comparison(project, name, scenarios)
    if as_json:
        print_json(_plain(project, saved))
    else:
        print_page(render_comparison_preview(saved, project.compare.method))


def _plain(project: Project, saved: SavedBaseline) -> dict[str, object]:
    return {
        "schema_version": 1,
        "kind": "comparison-preview",
        "baseline": saved.name,
        "method": project.compare.method,
        "scenarios": {
            name: {
                "passes": each.passes,
                "trials": each.trials,
                "looks": each.looks,
                "power": [cell.model_dump() for cell in each.power],
            }
            for name, each in saved.scenarios.items()
        },
    }
