"""The page of one mutant as a file of its own, in a bundle: all its stored runs on one scenario."""

import re
from collections.abc import Callable
from typing import NamedTuple

from agentmut.insight import MutantRuns
from agentmut.nouns import MutantRow, Result
from agentmut.report.html.inline import diff_of
from agentmut.report.html.mutant_pages import mutant_pages
from agentmut.report.html.mutant_rows import sayings
from agentmut.report.html.page_head import head_of
from agentmut.report.html.templating import rendered
from agentmut.report.view import Extra

_SAFE = re.compile(r"[\w-]{1,80}")
_LONGEST = 6_000


class MutantFile(NamedTuple):
    """A page of a bundle."""

    mutant: str
    path: str
    """Relative to the bundle's folder, with slashes."""
    text: str


def mutant_files(result: Result, extra: Extra) -> Callable[[MutantRuns], MutantFile | None]:
    """Return a function from the runs of a mutant to its page; None for an id that is no name of a file."""
    said, head = sayings(result), head_of(result, extra.project)
    rows = {row.id: row for row in result.mutants if _SAFE.fullmatch(row.id)}

    def made(runs: MutantRuns) -> MutantFile | None:
        row = rows.get(runs.mutant)
        return MutantFile(row.id, f"mutants/{row.id}.html", page(row, runs)) if row else None

    def page(row: MutantRow, runs: MutantRuns) -> str:
        (shown,) = mutant_pages(extra._replace(runs=(runs,), files={}), [row.id])
        pieces, says = diff_of(row, result.sources, _LONGEST), said.sentences_on(row)
        version = result.agentmut_version
        return rendered(
            "mutant.html", ("runs.js", "mutant.js"),
            row=row, head=head, page=shown, pieces=pieces, says=says, version=version,
        )  # fmt: skip

    return made
