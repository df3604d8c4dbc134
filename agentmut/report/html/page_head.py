"""The head of the page, with project, agent and day, and the titles of its cards."""

import re
from datetime import datetime
from typing import NamedTuple

from agentmut.nouns import Effect, MutantRow, Result
from agentmut.report.html.inline import cut
from agentmut.report.report_wording import without_marker
from agentmut.seams import effect_of

_LONGEST_TITLE = 140
_BEGUN = re.compile(r"\d{8}-\d{6}")


class Head(NamedTuple):
    """The subject of a page: project, agent and day."""

    project: str
    """Name of the project's folder; empty where it is not known."""
    agent: str
    begun: str
    """Day and minute of the run in UTC; empty where its id does not say."""

    @property
    def title(self) -> str:
        """Return project, agent and day in one line."""
        return " · ".join(part for part in (*self, "agentmut") if part)


def head_of(result: Result, project: str) -> Head:
    """Return the subject of the page of a result."""
    agent = result.agent
    named = f"{agent.name} ({agent.adapter})" if agent.name else f"{agent.adapter} agent"
    return Head(cut(project, 80), cut(named, 120), _begun(result.run_id))


def _begun(run: str) -> str:
    """Return the time at which a run began, read from its id.

    >>> _begun("20261127-021536-46bb47"), _begun("large")
    ('2026-11-27 02:15 UTC', '')
    """
    stamp = _BEGUN.match(run)
    try:
        return f"{datetime.strptime(stamp[0], '%Y%m%d-%H%M%S'):%Y-%m-%d %H:%M} UTC" if stamp else ""
    except ValueError:  # digits that are no date
        return ""


def card_title(row: MutantRow) -> str:
    """Return the title of a mutant's card, one line: the lost rule, else the description."""
    rule = " ".join(without_marker(row.before).split())
    if effect_of(row) is Effect.DROPS_RULE and rule:
        short = rule if len(rule) <= _LONGEST_TITLE else f"{rule[:_LONGEST_TITLE].rstrip()}…"
        return f"Lost: {cut(short, 200)}"
    return cut(row.description[:1].upper() + row.description[1:], 200) or cut(row.operator, 120)
