"""What rescoring changed, for a terminal."""

from collections.abc import Iterable

from agentmut.nouns import Intent, Score, Status
from agentmut.report.paint import Page, clean, shorten
from agentmut.report.report_wording import counted, interval, judged_with
from agentmut.report.terminal.relations_page import kill_lines, taking_runs
from agentmut.store import NeedsTrials, RelationsRescored, Rescored

SHOWN = 15


def render_rescored(rescored: Rescored, color: bool = False) -> str:
    """Return scores before and after, mutants with another status, and mutants that need new trials."""
    page = Page(color)
    page.add(
        f"run {rescored.run_id}: {counted(rescored.trials, 'stored trial')} judged again; nothing was run"
    )
    page.add()
    page.add(f"score before  {_score(rescored.before)}")
    page.add(f"score now     {_score(rescored.after)}")
    if rescored.after.undecided:
        page.add(
            "The score counts the mutants that the stored trials decide. `agentmut run`, with the options of that run, "
            "decides the undecided mutants too; its score may differ a lot."
        )
    _flipped(page, rescored)
    _fresh(page, rescored)
    _on_new_scenarios(page, rescored)
    if rescored.relations is not None:
        _relations(page, rescored, rescored.relations)
    for note in rescored.notes:
        page.add(clean(f"note: {note}."))
    return page.text()


def _score(score: Score) -> str:
    """Return value and bounds, and the number of undecided mutants, which the value does not count."""
    left = f", {counted(score.undecided, 'mutant')} undecided" if score.undecided else ""
    return f"{interval(score)}{left}"


def _flipped(page: Page, rescored: Rescored) -> None:
    if not rescored.flipped:
        page.add("No mutant changes its status.")
        return
    page.title(f"{counted(len(rescored.flipped), 'mutant')} with another status")
    for flip in rescored.flipped[:SHOWN]:
        by = f", by {flip.by}" if flip.by else ""
        after = flip.after if flip.final else f"{flip.after} (not final)"
        page.add(clean(f"{flip.mutant}  {flip.operator}: {flip.before} -> {after}{by}"))
        page.add(f"    {shorten(flip.description, 74)}")
    _more(page, len(rescored.flipped))


def _fresh(page: Page, rescored: Rescored) -> None:
    known = {row.scenario for row in rescored.result.baseline}
    fresh = [one for one in rescored.fresh if known.issuperset(one.scenarios)]
    if not fresh:
        return
    lack = "mutant needs" if len(fresh) == 1 else "mutants need"
    page.title(f"{len(fresh)} {lack} new trials: `agentmut run`, with the options of that run, makes them")
    for (scenarios, why), mutants in _by_lack(fresh).items():
        page.hang(clean(f"{', '.join(scenarios)}: {_listed(mutants)}; {why}"))


def _by_lack(fresh: Iterable[NeedsTrials]) -> dict[tuple[tuple[str, ...], str], list[str]]:
    """Return the mutants by the scenarios on which they need trials, and the reason."""
    mutants: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for row in fresh:
        mutants.setdefault((row.scenarios, row.why), []).append(f"{row.mutant} ({row.operator})")
    return mutants


def _on_new_scenarios(page: Page, rescored: Rescored) -> None:
    """Add mutants by scenario and reason; those that surely reach the scenario come first."""
    known = {row.scenario for row in rescored.result.baseline}
    fresh = [one for one in rescored.fresh if not known.issuperset(one.scenarios)]
    for scenario in dict.fromkeys(name for one in fresh for name in one.scenarios):
        here = [one for one in fresh if scenario in one.scenarios]
        sure = sum(one.certain for one in here)
        perhaps = len(here) - sure
        reach = "mutant that is not killed reaches" if sure == 1 else "mutants that are not killed reach"
        page.title(clean(f"{scenario} has no runs: {sure} {reach} it, perhaps {perhaps} more"))
        for why, ids in sorted(_by_reason(here).items(), key=lambda item: not item[0][0]):
            page.hang(clean(f"{why[1]}: {_listed(ids)}"))


def _by_reason(fresh: Iterable[NeedsTrials]) -> dict[tuple[bool, str], list[str]]:
    found: dict[tuple[bool, str], list[str]] = {}
    for one in fresh:
        found.setdefault((one.certain, one.why), []).append(one.mutant)
    return found


def _listed(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN} more (--json lists all)" if len(ids) > SHOWN else ""
    return f"{', '.join(ids[:SHOWN])}{more}"


def _relations(page: Page, rescored: Rescored, found: RelationsRescored) -> None:
    """Add the scores with kills by relations, what flipped, and what stored runs cannot tell."""
    page.title("With kills by relations")
    before = "none was checked on mutants" if found.before is None else _score(found.before)
    page.add(f"score before  {before}")
    page.add(f"score now     {_score(found.after)}")
    report = found.report
    if report is None:
        page.add(_nothing_to_judge(rescored))
    else:
        by = counted(len(found.relations), "relation")
        page.add(f"{counted(report.survivors, 'survivor')}, {report.tried} of them compared; {by} in use.")
    _killed_or_not(page, found)
    for mutant, places in found.kept.items():
        said = f"{mutant}: its earlier kill by {', '.join(places)} counts, and was not judged again."
        page.add(clean(said))
    for line in (*taking_runs(report), *judged_with(report)) if report else ():
        page.add(line)
    for note in found.notes:
        page.add(clean(f"note: {note}."))


def _nothing_to_judge(rescored: Rescored) -> str:
    """Return why no relation judged anything. Relations judge survivors, and an undecided mutant is no survivor."""
    undecided = rescored.after.undecided
    survived = any(
        row.status is Status.SURVIVED and row.intent is Intent.DEGRADE for row in rescored.result.mutants
    )
    if not undecided or survived:
        return "No survivor, or no relation that fits: there is nothing to judge."
    return (
        f"No mutant survives by the stored trials, so there is nothing to judge. `agentmut run` decides "
        f"the {counted(undecided, 'undecided mutant')}."
    )


def _killed_or_not(page: Page, found: RelationsRescored) -> None:
    if not found.flipped:
        page.add("Relations kill the same mutants as before.")
    kills = found.report.kills if found.report else ()
    for flip in found.flipped[:SHOWN]:
        said = f"-> killed by {', '.join(flip.after)}"
        if not flip.after:
            said = f"killed by {', '.join(flip.before)} -> not killed"
        page.add(clean(f"{flip.mutant}  {flip.operator}: {said}"))
        page.add(f"    {shorten(flip.description, 74)}")
        for line in kill_lines(kill for kill in kills if kill.mutant == flip.mutant):
            page.add(line)
    _more(page, len(found.flipped))


def _more(page: Page, number: int) -> None:
    if number > SHOWN:
        page.add(f"... and {number - SHOWN} more; --json lists all.")
