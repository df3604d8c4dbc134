"""What rescoring changed, for a terminal."""

from agentmut.report.paint import Page, clean, shorten
from agentmut.report.terminal import counted, interval
from agentmut.rescored import Rescored
from agentmut.result import Score

SHOWN = 15


def render_rescored(rescored: Rescored, color: bool = False) -> str:
    """Scores before and after, what flipped, and what needs new trials."""
    page = Page(color)
    page.add(f"run {rescored.run_id}: {counted(rescored.trials, 'stored trial')} judged again, none run")
    page.add()
    page.add(f"score before  {_score(rescored.before)}")
    page.add(f"score now     {_score(rescored.after)}")
    if rescored.after.undecided:
        page.add(
            "The score counts what the stored trials decide. `agentmut run` decides the open mutants as well: "
            "its score may be quite another one."
        )
    _flipped(page, rescored)
    _fresh(page, rescored)
    for note in rescored.notes:
        page.add(clean(f"note: {note}."))
    return page.text()


def _score(score: Score) -> str:
    """Value and bounds, and how many mutants the value does not count since they are open."""
    left = f", {counted(score.undecided, 'mutant')} open" if score.undecided else ""
    return f"{interval(score)}{left}"


def _flipped(page: Page, rescored: Rescored) -> None:
    if not rescored.flipped:
        page.add("No mutant changes its status.")
        return
    page.title(f"{counted(len(rescored.flipped), 'mutant')} with another status")
    for flip in rescored.flipped[:SHOWN]:
        by = f", by {flip.by}" if flip.by else ""
        page.add(clean(f"{flip.mutant}  {flip.operator}: {flip.before} -> {flip.after}{by}"))
        page.add(f"    {shorten(flip.description, 74)}")
    _more(page, len(rescored.flipped))


def _fresh(page: Page, rescored: Rescored) -> None:
    if not rescored.fresh:
        return
    page.title(
        f"{counted(len(rescored.fresh), 'mutant')} to be tried again: `agentmut run` runs what is missing"
    )
    for one in rescored.fresh[:SHOWN]:
        page.add(clean(f"{one.mutant}  {one.operator}: {one.why}; open: {', '.join(one.scenarios)}"))
    _more(page, len(rescored.fresh))


def _more(page: Page, number: int) -> None:
    if number > SHOWN:
        page.add(f"... and {number - SHOWN} more; --json lists all.")
