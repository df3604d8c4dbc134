"""Read the dates and times of day in a text, in one notation."""

import re
from calendar import month_abbr, month_name
from collections.abc import Iterator
from typing import NamedTuple

from agentmut.language.prompt.spans import Span
from agentmut.language.quantities.units import MONTH

_YEAR = r"(?:19|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_GERMAN = "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
_DATES = re.compile(
    rf"""
    (?<![\w.,:/#$€£-])(?:
      (?P<iso>(?P<y>{_YEAR})[-/](?P<m>0?[1-9]|1[0-2])[-/](?P<d>[0-2]?\d|3[01]))
        (?:T(?P<clock>\d\d:\d\d)[\d:.Z+-]*)?(?![\w-])
    | (?P<day>{_DAY})(?:\s+of)?[\s-]+(?i:(?P<month>{MONTH}))\b(?:\.?,?[\s-]+(?P<year>{_YEAR})\b)?
    | (?P<german_day>\d{{1,2}})\.\s?(?P<german>{_GERMAN})\b(?:\s(?P<german_year>{_YEAR})\b)?
    | (?i:(?P<month_first>{MONTH}))\b\.?\s+(?:the\s+)?(?P<day_after>{_DAY})(?![\w:]|\s?%)
        (?:,?\s+(?P<year_after>{_YEAR})\b)?
    | (?P<month_only>{MONTH})\.?,?\s+(?P<year_only>{_YEAR})\b
    | (?P<a>\d{{1,2}})(?P<mark>[/.])(?P<b>\d{{1,2}})(?P=mark)(?P<numeric_year>{_YEAR})(?![\w/])
    | (?P<hour>[01]?\d|2[0-3])[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?
        (?:\s?(?P<half>[AaPp]\.?[Mm]\b\.?)|(?<=:\d\d))(?![\w:])
    | (?P<full_hour>1[0-2]|[1-9])\s?(?P<full_half>[AaPp]\.?[Mm]\b\.?)
    | (?P<weekday>(?i:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day))s?\b(?!,?\s+(?:the\s+)?(?:\d|(?i:{MONTH})\b))
    | (?P<bare_year>{_YEAR})(?![\w%.,:/-]*?\d|\s?[%°])
    )
    """,
    re.VERBOSE,
)
_MONTHS = {name[:3].lower(): number for number, name in enumerate(month_abbr) if name} | {
    "jän": 1, "mär": 3, "mai": 5, "okt": 10, "dez": 12,
}  # fmt: skip


_MIDNIGHT = "00:00"


class Day(NamedTuple):
    """A date or a time, and its place in the text."""

    value: str
    """`2026-03-03`, `2026-03`, `2026`, `3 March`, `18:30`, or `Monday` where no day follows."""
    span: Span

    @property
    def without_year(self) -> str:
        """Return a full date as `3 March`; empty for anything else."""
        found = re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", self.value)
        return f"{int(found[2])} {month_name[int(found[1])]}" if found else ""


def days(text: str) -> Iterator[Day]:
    """Return the dates and times of a text, in order. `03/04/2026` is kept as written: the month is unknown.

    >>> [day.value for day in days("On March 3rd, 2026 or 13/4/2026, at 6:30 pm; since 2019, until 5 May.")]
    ['2026-03-03', '2026-04-13', '18:30', '2019', '5 May']
    >>> [day.value for day in days("Fällig am 1. Juni 2026, spätestens am 3. März.")]
    ['2026-06-01', '3 March']
    """
    for match in _DATES.finditer(text):
        value = _value(match.groupdict())
        if value:
            yield Day(value, Span(*match.span()))
        if match["iso"] and match["clock"] not in (None, _MIDNIGHT):  # written where no time is meant
            yield Day(match["clock"], Span(*match.span("clock")))


def _value(found: dict[str, str | None]) -> str:
    if found["iso"]:
        return _date(found["y"], int(found["m"] or 0), found["d"])
    if month := found["month"] or found["month_first"] or found["german"]:
        day = found["day"] or found["day_after"] or found["german_day"]
        year = found["year"] or found["year_after"] or found["german_year"]
        return _date(year, _MONTHS[month[:3].lower()], day)
    if found["month_only"]:
        return f"{found['year_only']}-{_MONTHS[found['month_only'][:3].lower()]:02}"
    if found["numeric_year"]:
        return _numeric(
            int(found["a"] or 0), int(found["b"] or 0), found["numeric_year"], found["mark"] or ""
        )
    if found["hour"] or found["full_hour"]:
        half = found["half"] or found["full_half"] or ""
        return _time(int(found["hour"] or found["full_hour"] or 0), found["minute"] or "00", half.lower())
    return (found["weekday"] or "").capitalize() or found["bare_year"] or ""


def _date(year: str | None, month: int, text: str | None) -> str:
    day = int(re.sub(r"\D", "", text or "0"))
    if not 1 <= day <= 31:
        return ""
    return f"{year}-{month:02}-{day:02}" if year else f"{day} {month_name[month]}"


def _numeric(first: int, second: int, year: str, mark: str) -> str:
    if first > 12 or mark == ".":
        first, second = second, first
    elif second <= 12 and first != second:
        return f"{first}/{second}/{year}"
    return _date(year, first, str(second)) if first <= 12 else ""


def _time(hour: int, minute: str, half: str) -> str:
    if half and hour <= 12:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return f"{hour:02}:{minute}"
