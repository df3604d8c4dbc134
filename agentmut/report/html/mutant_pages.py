"""What the page of a mutant shows beside the result: assertions to copy, and runs side by side."""

from collections.abc import Iterable
from typing import NamedTuple

from agentmut.insight import MutantRuns
from agentmut.nouns import AssertionSuggestion
from agentmut.report.html.inline import cut
from agentmut.report.paint import clean
from agentmut.report.terminal.assertion_lines import pytest_lines, yaml_lines
from agentmut.report.view import Extra


class Assertion(NamedTuple):
    """A proposed assertion, ready to be copied."""

    why: str
    held_out: str
    kills: int
    """Further survivors that it kills."""
    scenario: str
    where: str
    """File and line of the scenario; empty where they are not known."""
    yaml: str
    pytest: str
    firm: bool
    """The prompt or the user asks for it; else it only differs between the runs."""


class MutantPage(NamedTuple):
    """The part of a mutant's page that does not come from the result."""

    mutant: str
    assertions: tuple[Assertion, ...]
    runs: MutantRuns | None
    file: str = ""
    """The page of its own that the mutant has in a bundle; empty where it has none."""


def mutant_pages(extra: Extra, listed: Iterable[str]) -> list[MutantPage]:
    """Return the pages of the listed mutants that have runs or assertions."""
    runs = {one.mutant: one for one in extra.runs}
    proposed: dict[str, list[Assertion]] = {}
    for one in extra.assertions:
        proposed.setdefault(one.mutants[0], []).append(_assertion(one, extra.where.get(one.scenario, "")))
    wanted = [id for id in listed if id in runs or id in proposed or id in extra.files]
    return [
        MutantPage(id, tuple(proposed.get(id, ())), runs.get(id), extra.files.get(id, "")) for id in wanted
    ]


def _assertion(suggestion: AssertionSuggestion, where: str) -> Assertion:
    return Assertion(
        why=cut(suggestion.why[:1].upper() + suggestion.why[1:], 600),
        held_out=str(suggestion.held_out),
        kills=len(suggestion.mutants) - 1,
        scenario=cut(suggestion.scenario, 200),
        where=clean(where),
        yaml=yaml_lines(suggestion.evaluator),
        pytest=pytest_lines(suggestion.evaluator),
        firm=suggestion.firm,
    )
