"""Pages of a team: its projects, one project over time, and what changed between two runs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentmut.nouns import Score
from agentmut.report.comparison_wording import costs, in_common, kinds
from agentmut.report.html.inline import Piece, cut, word_diff
from agentmut.report.html.templating import rendered
from agentmut.report.report_wording import interval, without_marker
from agentmut.store import Comparison, MutantChange
from agentmut.usecases import TeamProject

SHOWN = 200
"""Rows of a list; how many more there are is said."""
WIDTH, HEIGHT = 640, 160
"""The size of the chart, in its own units."""
_LONGEST = 1_500


class Links(NamedTuple):
    """The links of pages; each address is relative to the page that has it."""

    project: Callable[[str], str] = lambda name: ""
    run: Callable[[str], str] = lambda run: ""
    """Empty for a run without a page."""
    later: Callable[[str], str] = lambda run: ""
    """The page of a run with what was found after the run; empty where nothing was."""
    diff: Callable[[str, str], str] = lambda old, new: ""
    """Empty for two runs without a page."""
    home: str = ""


class Mark(NamedTuple):
    """One campaign in the chart of scores."""

    run: str
    words: str
    x: float
    y: float
    top: float
    bottom: float


def team_page(projects: Sequence[TeamProject], links: Links, user: str = "") -> str:
    """Return the page that lists the projects. `user` is who asks; empty where nobody is named."""
    return rendered(
        "team.html", (), projects=projects, links=links, user=cut(user, 120), latest=_latest_score
    )


def project_page(project: TeamProject, links: Links, user: str = "") -> str:
    """Return the page of a project: scores over time, runs, survivors across time, and what is ignored and why."""
    return rendered(
        "team_project.html",
        (),
        p=project,
        links=links,
        user=cut(user, 120),
        marks=marks(project),
        runs=project.runs[::-1][:SHOWN],
        survivors=project.survivors[:SHOWN],
        shown=SHOWN,
        width=WIDTH,
        height=HEIGHT,
    )


def diff_page(
    found: Comparison, name: str, others: Sequence[tuple[str, str]], links: Links, user: str = ""
) -> str:
    """Return the page of a comparison. `others` are older runs with the address of the page that compares them."""
    return rendered(
        "team_diff.html",
        (),
        found=found,
        name=cut(name, 120),
        others=others,
        links=links,
        user=cut(user, 120),
        kinds=kinds(found),
        in_common=in_common(found.in_common),
        costs=list(costs(found)),
        pieces=_pieces,
        score=_score,
        shown=SHOWN,
    )


def marks(project: TeamProject) -> list[Mark]:
    """Return the places of the scores in the chart, the earliest on the left; 1.00 is at the top."""
    scored = [
        (run.id, run.row.score)
        for run in project.runs
        if run.row is not None and run.row.score is not None and run.row.score.value is not None
    ][-SHOWN:]
    step = WIDTH / (len(scored) + 1)
    return [_mark(run, score, step * n) for n, (run, score) in enumerate(scored, 1)]


def _mark(run: str, score: Score, x: float) -> Mark:
    def down(share: float | None) -> float:
        return round(HEIGHT * (1 - (share or 0.0)), 1)

    value = score.value
    low, high = (value if bound is None else bound for bound in (score.low, score.high))
    return Mark(run, interval(score), round(x, 1), down(value), down(high), down(low))


def _latest_score(project: TeamProject) -> Score | None:
    scores = [run.row.score for run in project.runs if run.row is not None and run.row.score is not None]
    return scores[-1] if scores else None


def _score(score: Score | None) -> str:
    return "none" if score is None else interval(score)


def _pieces(change: MutantChange) -> list[Piece]:
    """Return what a mutant changes, word by word."""
    before, after = without_marker(change.before), without_marker(change.after)
    return list(word_diff(cut(before, _LONGEST), cut(after, _LONGEST)))
