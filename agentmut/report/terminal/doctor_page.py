"""The report of `agentmut doctor`."""

import textwrap
from collections.abc import Mapping
from types import MappingProxyType

from rich.table import Table
from rich.text import Text

from agentmut.report.paint import WIDTH, Page, clean
from agentmut.report.report_wording import counted
from agentmut.store import Arrival, Delivered, Diagnosis, Sent

_STYLES = {Arrival.ALL: "green", Arrival.PARTLY: "yellow", Arrival.NONE: "red", Arrival.UNKNOWN: "yellow"}


def render_diagnosis(found: Diagnosis, color: bool = False) -> str:
    """Return the diagnosis as text: checks, what the agent sends, which route carries it, and what to do."""
    page = Page(color)
    page.add(Text(clean(f"{found.project}: {found.adapter} agent, scenario {found.scenario}"), style="bold"))
    _checks(page, found)
    _sent(page, found)
    _moving(page, found)
    _parts(page, found)
    page.title(_verdict(found))
    for advice in found.advice:
        page.add(clean(advice))
    return page.text()


def _checks(page: Page, found: Diagnosis) -> None:
    page.title("Before running it")
    for check in found.checks:
        _point(page, f"{'ok  ' if check.ok else 'WARN'}  {check.said}", "" if check.ok else "yellow", hang=6)


def _sent(page: Page, found: Diagnosis) -> None:
    if not found.trials:
        return
    page.title("The agent as it is")
    _point(page, found.said, "" if found.ran else "red")
    for sent in found.requests:
        _point(page, _request(sent))
    if not found.requests:
        _point(page, "no model request was seen", "yellow")
    if found.differences:
        page.title("Declared and sent")
    for difference in found.differences:
        _point(page, difference, "yellow")


def _moving(page: Page, found: Diagnosis) -> None:
    if found.moving:
        page.title("What differs from run to run")
    for said in found.moving:
        _point(page, said)


def _point(page: Page, text: str, style: str = "", hang: int = 2) -> None:
    page.add(
        Text(
            textwrap.fill(clean(text), WIDTH, initial_indent="  ", subsequent_indent=" " * (hang + 2)), style
        )
    )


def _request(sent: Sent) -> str:
    tools = f"tools {', '.join(sent.tools)}" if sent.tools else "no tools"
    streamed = ", streamed" if sent.streamed else ""
    where = f"{sent.dialect or 'a model request'} to {sent.host or 'its service'}"
    return (
        f"{sent.number} x {where}: model {sent.model}, system prompt of {sent.prompt_length:,} characters, {tools}"
        f"{streamed}"
    )


def _parts(page: Page, found: Diagnosis) -> None:
    if not found.parts:
        return
    page.title(f"Do changes arrive? ({counted(found.trials, 'run')} of the agent)")
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    page.add(f"rebuild: {_WAYS['rebuild']}. wire: {_WAYS['wire']}.")
    for name in ("part", "rebuild", "wire"):
        table.add_column(name, no_wrap=True)
    for part in found.parts:
        table.add_row(part.name, _cell(part.rebuild), _cell(part.wire))
    page.add(table)
    for note, of in _notes(found).items():
        page.add()
        page.add(clean(f"{_needless(found) or ', '.join(of)}: {note}."))


_WAYS: Mapping[str, str] = MappingProxyType(
    {
        "rebuild": "agentmut builds the agent from a changed config",
        "wire": "agentmut changes the model requests of the agent",
    }
)
"""What the two routes are, for readers who do not know their names."""


def _needless(found: Diagnosis) -> str:
    """Say that the other route is not needed, where each change arrives by the route that a run takes."""
    own, other = ("wire", "rebuild") if found.route == "wire" else ("rebuild", "wire")
    whole = all(
        getattr(part, own).arrival is Arrival.ALL and not getattr(part, own).said for part in found.parts
    )
    return (
        f"Nothing is to be done: each change arrives by {own}, and one way is enough. The other way, {other} "
        f"({_WAYS[other]}), does not work for this agent"
        if whole
        else ""
    )


def _cell(delivered: Delivered) -> Text:
    return Text(delivered.arrival.value, style=_STYLES[delivered.arrival])


def _notes(found: Diagnosis) -> dict[str, list[str]]:
    """Return the notes, each with its parts and routes: causes are often shared."""
    notes: dict[str, list[str]] = {}
    for part in found.parts:
        for route, delivered in (("rebuild", part.rebuild), ("wire", part.wire)):
            if said := _delivery_note(delivered):
                notes.setdefault(said, []).append(f"{part.name} by {route}")
    return notes


def _delivery_note(delivered: Delivered) -> str:
    if delivered.arrival is not Arrival.PARTLY:
        return delivered.said
    first = ", not the first of a run" if delivered.first_missed else ""
    share = f"reached {delivered.shown} of {delivered.could} requests that could have shown it{first}"
    return "; ".join(filter(None, (share, delivered.said)))


def _verdict(found: Diagnosis) -> str:
    if not found.trials:
        return "Nothing was run."
    if not found.ran:
        return "This agent cannot be run as it is, so nothing can be said about its mutants."
    by = [route for route, arrives in found.routes.items() if arrives]
    if not by:
        return "Mutants do not reach this agent."
    own = f"`agentmut run` takes {found.route}"
    if len(by) == 2:
        return f"Mutants reach this agent by rebuild and by wire; {own}."
    return f"Mutants reach this agent by {by[0]} only; {own}."
