"""Render the suggestions of `agentmut suggest`; readable at 80 columns and without colour."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentmut._base import canonical_json
from agentmut.nouns import AssertionSuggestion, EvaluatorSpec, ScenarioSuggestion
from agentmut.report.paint import WIDTH, Page, clean, shorten
from agentmut.report.terminal.assertion_lines import SEEN_TO_DIFFER
from agentmut.report.terminal.verdicts_page import plain_table

if TYPE_CHECKING:
    from agentmut.usecases import Idea, Proposed, Searched

INDENT = " " * 10
SHOWN = 12
"""Ideas and coverage items that are listed."""


def render_suggestions(found: "Proposed", color: bool = False) -> str:
    """Return the page of suggestions: assertions, scenarios and ideas, each with its evidence and its gain."""
    page = Page(color)
    said = found.suggestions
    page.add(f"Suggestions{f' from run {said.run_id}' if said.run_id else ''}")
    _assertions(page, said.assertions)
    if found.searched is not None:
        _scenarios(page, said.scenarios, found.searched)
    elif said.scenarios:
        page.title(f"{len(said.scenarios)} scenario{'s' * (len(said.scenarios) != 1)} of earlier searches")
        _listed(page, said.scenarios)
    _ideas(page, found.ideas)
    for note in said.notes:
        page.add(f"Note: {clean(note)}")
    page.add()
    page.add(_next(found))
    return page.text()


def _assertions(page: Page, found: Sequence[AssertionSuggestion]) -> None:
    firm = [one for one in found if one.firm]
    page.title(
        f"{len(firm)} assertion{'s' * (len(firm) != 1)} for survivors"
        if firm
        else "No assertion for a survivor was found"
    )
    _evidence(page, firm)
    if len(firm) < len(found):
        page.title(SEEN_TO_DIFFER)
        _evidence(page, [one for one in found if not one.firm])


def _evidence(page: Page, found: Sequence[AssertionSuggestion]) -> None:
    for one in found:
        page.line(f"{one.id}  {clean(one.scenario)}: {shown(one.evaluator)}", "bold")
        _more(page, f"kills {', '.join(one.mutants)}")
        _more(page, clean(one.why))
        _more(page, f"it holds in {one.held_out} runs of the original that were not used to find it")


def _more(page: Page, text: str) -> None:
    """Return the lines about a suggestion that follow its id."""
    hanging = INDENT + "  " * text.startswith("  ")
    for line in textwrap.wrap(text.strip(), WIDTH, initial_indent=hanging, subsequent_indent=hanging + "  "):
        page.line(line)


def _scenarios(page: Page, found: Sequence[ScenarioSuggestion], searched: "Searched") -> None:
    page.title(
        f"{len(found)} scenario{'s' * (len(found) != 1)}, of {searched.tried} inputs tried in {searched.asked} runs "
        f"({searched.asked - searched.executed} reused)"
        if found
        else f"No scenario, of {searched.tried} inputs tried in {searched.asked} runs"
    )
    _listed(page, found)
    page.add(f"The search ended because {clean(searched.ended)}.")
    _before_after(page, searched)


def _listed(page: Page, found: Sequence[ScenarioSuggestion]) -> None:
    for one in found:
        page.line(f"{one.id}  {clean(one.scenario.name)}  ({clean(one.origin)})", "bold")
        for turn in one.scenario.turns:
            _more(page, f'"{shorten(turn if isinstance(turn, str) else canonical_json(turn), 600)}"')
        for line in _gains(one):
            _more(page, line)


def _gains(suggestion: ScenarioSuggestion) -> Iterator[str]:
    if suggestion.aim:
        yield f"aimed at {clean(suggestion.aim)}"
    if suggestion.adds:
        more = f", and {len(suggestion.adds) - SHOWN} more" if len(suggestion.adds) > SHOWN else ""
        yield f"adds {'; '.join(clean(item) for item in suggestion.adds[:SHOWN])}{more}"
    if suggestion.kills:
        yield f"kills {', '.join(suggestion.kills)}"
    yield f"unconfirmed evaluators, which held in {suggestion.passes} runs:"
    yield from (f"  {shown(spec)}" for spec in suggestion.scenario.evaluators)
    yield clean(suggestion.why)


def _before_after(page: Page, searched: "Searched") -> None:
    page.title("Coverage before and after")
    table = plain_table("dimension", "before", "after")
    table.add_row("overall", _share(searched.before.overall), _share(searched.after.overall))
    later = {row.dimension: row.value for row in searched.after.dimensions}
    for row in searched.before.dimensions:
        if row.value is not None:
            table.add_row(row.dimension.value, _share(row.value), _share(later.get(row.dimension)))
    page.add(table)


def _ideas(page: Page, ideas: "Sequence[Idea]") -> None:
    if not ideas:
        return
    page.title(
        f"What no stored run shows ({len(ideas)}), each with an input that might show it; nothing was run"
    )
    for idea in ideas[:SHOWN]:
        aim = shorten(idea.aim or idea.item, 3 * WIDTH)
        for line in textwrap.wrap(aim, WIDTH, initial_indent="  ", subsequent_indent="      "):
            page.line(line)
        page.hang(f'"{shorten(idea.input, 300)}"', indent=4)
    if len(ideas) > SHOWN:
        page.add(f"  and {len(ideas) - SHOWN} more (--json lists all)")


def _next(found: "Proposed") -> str:
    if not found.own_scenarios:
        if not found.suggestions.assertions:
            return "More runs find more: `agentmut run`"
        return "`agentmut show ID` shows the assertion for a mutant as code. Write it into the test by hand"
    any_made = found.suggestions.assertions or found.suggestions.scenarios
    apply = "`agentmut suggest --apply ID` writes what you have confirmed into the scenario files"
    search = "`agentmut suggest --scenarios` tries inputs for what is not exercised"
    steps = [*([apply] if any_made else []), *([search] if found.searched is None else [])]
    return "; ".join(steps) if steps else "More runs find more: `agentmut suggest --scenarios --trials N`"


def shown(spec: EvaluatorSpec) -> str:
    """Return an evaluator as it stands in a scenario file."""
    return clean(
        f"{spec.name}: {spec.argument if isinstance(spec.argument, str) else canonical_json(spec.argument)}"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
