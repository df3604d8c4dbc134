"""Limits change: another number, or the comparison the other way round."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from agentmut.language import (
    BASE_VERBS,
    CLOCK_FORMAT,
    DETERMINERS,
    MONTH,
    NOT_AFTER_LARGER,
    NUMBER,
    UNIT,
    Deviation,
    Instruction,
    Measure,
    PromptDocument,
    Use,
    counted_ones,
    in_condition,
    measure,
    other_number,
    uses,
    word_set,
)
from agentmut.nouns import AgentConfig, Candidate
from agentmut.operators.prompt.replaced_words import (
    PLACES,
    english_instructions,
    first_places,
    replacements,
    reworded,
)
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_SIGN = re.compile(r"(?<=[\w )])(?P<sign><=|>=|<|>|≤|≥)(?=\s?[$€£]?\d)")
_MONEY_AHEAD = re.compile(r"\s[*_]*[$€£]")
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "≤": "≥", "≥": "≤"}

_NUMBER = re.compile(
    r"(?<![\w.,:/#+–-])(?<![\d#+/:]\s)(?P<money>[$€£]\s?)?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,9})(?P<decimals>\.\d{1,4})?"
    r"(?P<unit>%|(?:k|m|kg|km|cm|mm|gb|mb|kb|s|ms|h|x)\b)?"
    rf"(?![\w/:–]|[.,]\d|\s\d|-(?!{UNIT}\b))",
    re.IGNORECASE,
)
_LABELS = """
version v section sections step steps rule rules figure table chapter page pages line article appendix part no nr
number id case order ticket invoice room gate flight iso rfc http https error code status python node level tier
type item question s ss sch reg sec clause clauses para paragraph art exhibit annex
example phase stage option call dial port extension ext phone hotline pin tel fax since year on
"""
_LABEL_BEFORE = re.compile(rf"(?:\b(?:{'|'.join(_LABELS.split())}|{MONTH})\.?|[#§])[ ]$", re.IGNORECASE)
_NAME_BEFORE = re.compile(
    r"\b(?P<word>[A-Z][a-z]+|[A-Z]?[a-z]+[A-Z]\w*) $"
)  # "Tram 8", "PostgreSQL 15", but "Give 3 reasons", "Within 5 days"
_CLOCK = re.compile(r"[012]?\d\.[0-5]\d")
_TIME_OR_DATE_AFTER = re.compile(rf"(?:st|nd|rd|th)?\s?(?:{MONTH}\b|[ap]\.?m\b|o['’]clock)", re.IGNORECASE)
_TIME_AHEAD = re.compile(r"\s+\d{1,2}(?:[:.]\d\d|\s?(?:[ap]\.?m\b|o['’]clock))", re.IGNORECASE)
_MARKER_AFTER = re.compile(r"[.)]\s+[A-Z]|\)")
_MARKER_BEFORE = re.compile(r"(?:^|[.:;(])\s*$")
_CLOCK_FORMAT = re.compile(CLOCK_FORMAT)
_BEFORE_COUNTS = word_set(
    "within after before in at over under above below about around exactly up to than with for only least most "
    "between from maximum minimum top and or by always never max min per"
)
_NO_NAMES = BASE_VERBS | DETERMINERS | _BEFORE_COUNTS

_NUMBER_WORD = re.compile(
    rf"(?<![\w-]){NOT_AFTER_LARGER}(?P<word>(?!one\b){NUMBER})(?=\s+[a-z]|[.,;]|\s*$|-{UNIT}\b)"
    r"(?!\s+(?:of (?:the|them|these)|hundred|thousand|million))",
    re.IGNORECASE,
)
# "5 to 7 days", "two or three": the first number says little, and would not read well much larger
_RANGE_AFTER = re.compile(rf"\s*(?:to|or|and|-|–)\s+(?:[$€£]\s?)?(?:\d|{NUMBER}\b)", re.IGNORECASE)
# "If two sources differ", "the two addresses": no limit that somebody could mistype
_NO_LIMIT_BEFORE = re.compile(
    r"\b(?:if|when|whenever|where|between|whether|the|these|those|all|both)\s+$", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:never|not|cannot|avoid)\b|n['’]t\b", re.IGNORECASE)
_TIMES = {"once": ("twice", "three times"), "twice": ("three times", "four times")}
_HOW_OFTEN = re.compile(r"(?<!at )(?<![\w-])(?P<word>once|twice)(?=[.;]|\s*$| (?:per|a|an|more|in a row)\b)")


_CHANGES = (Deviation.NEAR, Deviation.FAR)


class _Place(NamedTuple):
    """A number in an instruction, and the near and the far one."""

    start: int
    end: int
    wordings: tuple[str, ...]


@operator(
    "prompt.change_number",
    why="A limit is mistyped, or copied from another policy.",
    examples=[
        prompt_example("Refunds end after 30 days.", "Refunds end after 31 days."),
        prompt_example("Ask at most five questions.", "Ask at most six questions."),
        prompt_example("Escalate above $1,000.", "Escalate above $1,100."),
    ],
    english=True,
)
def change_number(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Change the first two numbers of each instruction, each a little and then much.

    Much is tenfold, or what somebody could still believe: five degrees, ten years of age, twice a scale. A number
    in words is doubled, or three more, since nobody mistypes "two" as "twenty".
    Separators, decimals, currency and unit stay as they are; number words become number words. Left alone:
    list markers, versions, references ("step 3"), years, dates, times of day, "24-hour", identifiers, the
    lower end of a range, code, quotes, and "one" that counts nothing ("one of them").
    """
    for document, instruction in english_instructions(config):
        for place in islice(_places(document, instruction), PLACES):
            start, end = instruction.start + place.start, instruction.start + place.end
            made = (reworded(document, instruction, start, end, wording) for wording in place.wordings)
            yield from filter(None, made)


@operator(
    "prompt.flip_comparator",
    why="A limit is rephrased, and the comparison comes out the wrong way round.",
    examples=[
        prompt_example("Escalate totals above 200 euros.", "Escalate totals below 200 euros."),
        prompt_example("Answer within 30 days.", "Answer after 30 days."),
    ],
    english=True,
)
def flip_comparator(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Turn the first two comparisons of each instruction round: more than, above, at most, minimum, within.

    Then its first two signs (<, >=). Prepositions and signs only before a number.
    """
    for document, instruction in english_instructions(config):
        found = (use for use in uses(document, instruction, "comparators") if not _at_a_time(document, use))
        for use in first_places(found, "opposite"):
            if use.text.lower() == "up to" and _MONEY_AHEAD.match(
                document.text, use.end
            ):  # "refunds up to $50"
                yield from filter(None, [reworded(document, instruction, use.start, use.end, "over")])
            else:
                yield from replacements(document, instruction, use, "opposite")
        for match in islice(_SIGN.finditer(instruction.text), PLACES):
            start, end = (instruction.start + offset for offset in match.span())
            if made := reworded(document, instruction, start, end, _TURNED[match["sign"]]):
                yield made


def _at_a_time(document: PromptDocument, use: Use) -> bool:
    """Return whether the comparison names a time of day: the contrary of "after 5 p.m." is not "within 5 p.m."."""
    time = use.text.lower() in ("within", "after", "beyond")
    return time and _TIME_AHEAD.match(document.text, use.end) is not None


def _places(document: PromptDocument, instruction: Instruction) -> Iterator[_Place]:
    text = instruction.text
    found = [*_in_digits(text), *_in_words(text), *_ones(text)]
    for place in sorted(found):
        if not document.protects(instruction.start + place.start, instruction.start + place.end):
            yield place


def _in_digits(text: str) -> Iterator[_Place]:
    for match in _NUMBER.finditer(text):
        start, end = match.start("digits"), match.end("decimals" if match["decimals"] else "digits")
        if _is_name(text, match) or _RANGE_AFTER.match(text, match.end()):
            continue
        if text[start:end] != "1" or match["money"] or text[end : end + 1] in ("-", "%"):
            yield _Place(start, end, _near_and_far(text, start, end))


def _in_words(text: str) -> Iterator[_Place]:
    for match in _NUMBER_WORD.finditer(text):
        before = text[: match.start()]
        is_limit = not (_LABEL_BEFORE.search(before) or _NO_LIMIT_BEFORE.search(before))
        if is_limit and not _RANGE_AFTER.match(text, match.end()):
            yield _Place(*match.span("word"), _near_and_far(text, *match.span("word")))
    for match in _HOW_OFTEN.finditer(text):
        if _NEGATED.search(text[: match.start()]):  # nobody writes "Never pay it three times"
            continue
        yield _Place(*match.span(), _TIMES[match["word"]])


def _ones(text: str) -> Iterator[_Place]:
    """Yield the place of the number 1 with its noun: "1 day" becomes "2 days"."""
    for counted in counted_ones(text):
        # "Find one recent, specific fact": the noun comes later
        lists = text.startswith(",", counted.end) and not in_condition(text, counted.start)
        if not (lists or _LABEL_BEFORE.search(text[: counted.start])):
            numbers = _near_and_far(text, *counted.number)
            wordings = tuple(f"{counted.lead}{number}{counted.plural}" for number in numbers)
            yield _Place(counted.start, counted.end, wordings)


def _near_and_far(text: str, start: int, end: int) -> tuple[str, ...]:
    of = measure(text, start, end)
    return tuple(other_number(text[start:end], of, other) for other in _CHANGES)


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Return whether a number only says which one: a version, a reference, a year, a date, a time of day."""
    before, digits = text[: match.start()], match["digits"]
    name = _NAME_BEFORE.search(before)
    is_named = name is not None and name["word"].lower() not in _NO_NAMES
    is_clock = (
        _CLOCK.fullmatch(digits + (match["decimals"] or ""))
        and not match["unit"]
        and measure(text, match.start("digits"), match.end()) is not Measure.MONEY
    )
    is_code = len(digits) > 1 and digits.startswith("0")
    measured = bool(match["money"] or match["unit"] or match["decimals"])
    is_year = len(digits) == 4 and digits[:2] in ("19", "20") and not measured
    is_marker = _MARKER_BEFORE.search(before) and _MARKER_AFTER.match(text, match.end()) and not measured
    return bool(
        is_named
        or is_clock
        or is_code
        or is_year
        or is_marker
        or _LABEL_BEFORE.search(before)
        or _CLOCK_FORMAT.match(text, match.start("digits"))
        or _TIME_OR_DATE_AFTER.match(text, match.end())
    )
