"""Render the expected cost of a campaign for a terminal."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentmut.project import VerdictSettings
from agentmut.report.paint import Page, clean
from agentmut.report.report_wording import counted, percent
from agentmut.report.terminal.verdicts_page import plain_table
from agentmut.stats import Preview
from agentmut.usecases import Amount, CheapPlan, Foreseen, Offer

SHOWN = 4
"""Assumptions of a page that is not full."""


def render_plan(plan: Foreseen, color: bool = False, *, full: bool = False) -> str:
    """Return the page of a plan: mutants, the expected cost of each round, the worst case, and the assumptions.

    The page has the first assumptions, which speak of the agent's own runs. A `full` one has them all, and what the
    whole run takes at three drops; so has the page of a run without rounds.
    """
    page = Page(color)
    is_whole = full or not plan.rounds
    _add_size(page, plan)
    _add_rounds(page, plan)
    if plan.cheap:
        page.hang(_cheap(plan.cheap), indent=0)
    _add_offers(page, plan.offers)
    if plan.buys:
        page.hang(plan.buys, indent=0)
    if is_whole:
        _add_drops(page, plan)
    _add_limits(page, plan, is_whole)
    _add_assumptions(page, plan, full)
    return page.text()


def _add_size(page: Page, plan: Foreseen) -> None:
    """Add how many mutants and scenarios there are."""
    classes = ", ".join(f"{count} {name}" for name, count in plan.mutants.items())
    page.add(f"agentmut {plan.agentmut_version}  plan of {clean(plan.project)}; no mutant has been run")
    made = counted(sum(plan.mutants.values()), "mutant")
    page.hang(f"{made} ({classes}), {counted(plan.scenarios, 'scenario')}", indent=0)
    if plan.no_coverage:
        cost, count = ("costs", "counts") if plan.no_coverage == 1 else ("cost", "count")
        mutants = counted(plan.no_coverage, "mutant")
        page.add(f"No scenario reaches {mutants}, which {cost} nothing and {count} as not noticed.")


def _add_rounds(page: Page, plan: Foreseen) -> None:
    """Add the expected cost after each round, if there are rounds."""
    if not plan.rounds:
        return
    page.title("What the money buys: which mutants the suite notices")
    bought = plain_table("drops of a pass rate of", "trials", "cost", "time")
    for part in plan.rounds:
        bought.add_row(f"{part.delta:g} or more", *_cells(part.total))
    page.add(bought)


def _add_limits(page: Page, plan: Foreseen, is_whole: bool) -> None:
    """Add the worst case, the cost at the rates of earlier runs, and what stops the run or asks first."""
    page.hang(
        f"At worst {_taken(plan.worst)}; the baseline alone {_taken(plan.baseline)}.",
        indent=0,
    )
    if plan.history:
        page.hang(
            f"At the rates of earlier runs: {percent(plan.history.killed)} killed, "
            f"{plan.history.trials:.0f} trials of mutants.",
            indent=0,
        )
    if plan.stops:
        case = "one of these cases" if is_whole else "a case that --full shows"
        page.hang(f"The budget would stop the run in {case}: {plan.stops}.", indent=0, style="yellow")
    if plan.asks:
        page.hang(f"`agentmut run` will ask first: {plan.asks} `--yes` skips the question.", indent=0)


def _add_assumptions(page: Page, plan: Foreseen, full: bool) -> None:
    """Add the assumptions of the figures, the first `SHOWN` unless the page is full, and the notes."""
    page.title("What this rests on")
    shown = plan.assumptions if full else plan.assumptions[:SHOWN]
    for assumption in shown:
        page.hang(f"- {clean(assumption)}")
    if hidden := len(plan.assumptions) - len(shown):
        page.hang(f"- and on {counted(hidden, 'further assumption')}, which --full shows")
    for note in plan.notes:
        page.hang(f"Note: {clean(note)}.", indent=0)


BY_FIRST_TRIALS = (
    "This estimate rests on the first trials of this run. `agentmut plan` rests on stored runs and assumptions, so its "
    "figures may differ."
)


WHERE_DRAWN = (
    "The run draws these mutants after its baseline. `sample.mutants` in `agentmut report --json` names them."
)


def render_offers(offers: Sequence[Offer]) -> str:
    """Return a sentence for each budget on what it buys, by the first trials of a run; empty without a budget."""
    page = Page(color=False)
    _add_offers(page, offers)
    if offers:
        page.hang(BY_FIRST_TRIALS, indent=0)
    return page.text()


def _add_drops(page: Page, plan: Foreseen) -> None:
    """Add what the whole run takes if all harmful mutants drop alike; the first table takes some for noticed soon."""
    page.title("The whole run, if each harmful mutant lowers one pass rate by")
    table = plain_table("", "killed", "survived", "open", "trials", "cost", "time")
    for line in plan.lines:
        shares = (_share(value) for value in (line.killed, line.survived, line.undecided))
        table.add_row(f"{line.drop:g}", *shares, *_cells(line.total))
    page.add(table)


def _add_offers(page: Page, offers: Sequence[Offer]) -> None:
    for offer in offers:
        page.hang(_offered(offer), indent=0)
    if any(offer.mutants and offer.half_width is not None for offer in offers):
        page.hang(WHERE_DRAWN, indent=0)


def _offered(offer: Offer) -> str:
    """Say what a budget is enough for.

    >>> _offered(Offer(usd=2, trials=300, mutants=8, of=27, delta=0.75, half_width=0.33))
    'With $2 you learn the score within about 0.33, for drops of 0.75 or more, by 8 of 27 mutants drawn at random.'
    >>> _offered(Offer(usd=None, trials=2000, mutants=27, of=27, delta=0.5, half_width=None))
    'With 2,000 trials you learn of every mutant whether a drop of 0.5 or more is noticed.'
    """
    budget = f"${offer.usd:g}" if offer.usd else f"{offer.trials:,.0f} trials"
    if not offer.mutants:
        return f"{budget} is not enough to decide any mutant."
    if offer.half_width is None:
        return (
            f"With {budget} you learn of every mutant whether a drop of {offer.delta:g} or more is noticed."
        )
    return (
        f"With {budget} you learn the score within about {offer.half_width:.2f}, for drops of {offer.delta:g} or more, "
        f"by {offer.mutants} of {offer.of} mutants drawn at random."
    )


def _cheap(plan: CheapPlan) -> str:
    """Say what a run with a cheap model takes.

    >>> few, many = Amount(trials=900, usd=3.5, minutes=None), Amount(trials=4000, usd=0.6, minutes=None)
    >>> print(_cheap(CheapPlan(model="nano", cheap=many, own=few, drawn=12, of=60)))  # doctest: +NORMALIZE_WHITESPACE
    With mutation.proxy nano decides all mutants in 4,000 trials ($0.60), and the agent's own model 12 of 60 in
    900 trials ($3.50).
    """
    return (
        f"With mutation.proxy {clean(plan.model)} decides all mutants in {_taken(plan.cheap)}, and the agent's own "
        f"model {plan.drawn} of {plan.of} in {_taken(plan.own)}."
    )


def _taken(found: Amount) -> str:
    price = "price not known" if found.usd is None else f"${found.usd:.2f}"
    return f"{found.trials:,.0f} trials ({price})"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _cells(found: Amount) -> tuple[str, str, str]:
    usd = "?" if found.usd is None else f"${found.usd:.2f}"
    return f"{found.trials:.0f}", usd, _time(found.minutes)


def _time(minutes: float | None) -> str:
    """Return minutes in the unit that fits.

    >>> _time(0.5), _time(90), _time(None)
    ('30 s', '1.5 h', '?')
    """
    if minutes is None:
        return "?"
    if minutes < 1:
        return f"{60 * minutes:.0f} s"
    return f"{minutes:.0f} min" if minutes < 60 else f"{minutes / 60:.1f} h"


class PreviewLine(NamedTuple):
    """What to expect if the true pass rates are as assumed."""

    assumed: str
    scenarios: Mapping[str, Preview]
    suite: Preview


def render_preview(lines: Sequence[PreviewLine], settings: VerdictSettings, notes: Sequence[str]) -> str:
    """Return the lines as text."""
    page = Page(color=False)
    page.add(f"{settings.method} test, at most {settings.trials} trials a scenario; nothing has been run")
    page.title("Chances of the suite's verdict, if every pass rate is")
    table = plain_table("", "PASS", "FAIL", "open", "trials", "cost")
    for line in lines:
        suite = line.suite
        cost = "?" if suite.cost is None else f"${suite.cost:.2f}"
        chances = (f"{chance:.3f}" for chance in (suite.passed, suite.failed, suite.inconclusive))
        table.add_row(line.assumed, *chances, f"{suite.trials:.0f}", cost)
    page.add(table)
    page.add("Scenarios are taken to fail independently of each other; trials and cost are means.")
    if any(line.suite.cost is None for line in lines):
        page.add("Cost: known once a trial with a priced model is in the store.")
    for note in notes:
        page.add(f"Note: {clean(note)}.")
    return page.text()
