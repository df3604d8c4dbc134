"""The power of a comparison with a saved baseline, from the saved counts."""

from collections.abc import Sequence

from agentmut._base import UsageError, make_importable, nearest
from agentmut.assessment import with_power
from agentmut.campaign import Tables, imported_suite, with_suite
from agentmut.project import Project
from agentmut.store import SavedBaseline, read_baseline
from agentmut.usecases.assessing import baselines_folder


def foreseen_comparison(project: Project, name: str, scenarios: Sequence[str] = ()) -> SavedBaseline:
    """Return the comparable scenarios of a baseline, each with its chances of FAIL under today's settings.

    Counts are those that were saved: no stored run is judged again. Raises `UsageError` for a baseline that does not
    exist, a scenario that is not in it, and where nothing is left to compare.
    """
    saved = read_baseline(name, baselines_folder(project))
    make_importable(project.root)
    suite = {each.name for each in with_suite(project, imported_suite(project)).scenarios}
    known = {each: kept for each, kept in saved.scenarios.items() if each in suite and kept.trials}
    for each in scenarios:
        if each not in known:
            raise UsageError(
                f"--scenario {each}: baseline {name!r} has no such scenario. {nearest(each, known)}"
            )
    if not known:
        raise UsageError(f"no scenario of the suite is in baseline {name!r}: save it anew.")
    chosen = {each: kept for each, kept in known.items() if not scenarios or each in scenarios}
    return saved.model_copy(update={"scenarios": with_power(project, chosen, Tables.from_project(project))})
