"""Recognise the form of a value, such as an identifier, and forms within an answer, such as a list."""

import re

LONGEST_SHAPED = 24
_RUN = re.compile(r"[A-Z]+|[a-z]+|\d+|[^A-Za-z\d]")
_HAS_BOTH = re.compile(r"(?=.*\d)(?=.*[A-Za-z\-/:@.])")

SHAPES = (
    ("a date such as 2026-05-31", r"\b\d{4}-\d{2}-\d{2}\b"),
    ("an amount of money", r"[$€£]\s?\d|\b\d[\d,.]*\s?(?:USD|EUR|GBP|dollars|euros)\b"),
    ("a percentage", r"\d\s?(?:%|per cent\b|percent\b)"),
    ("an email address", r"[\w.+-]{1,64}@[\w-]{1,64}\.\w+"),
    ("a web address", r"https?://\S+"),
    ("a list", r"(?:\A|\n)[ \t]*(?:[-*•]|\d+[.)])[ \t]+\S"),
    ("a question", r"\?(?:\s|$)"),
    ("bold text or a heading", r"\*\*\S|(?:\A|\n)#{1,6}\s"),
    ("a code block", r"```"),
    ("a number", r"\d"),
    ("an exclamation mark", r"!"),
)
"""What it is called and the pattern that finds it."""
OF_STYLE = ("a list", "bold text or a heading", "a code block")
"""Forms in which an answer is written, whatever it says."""
SLIGHT = ("a question", "a number", "an exclamation mark")
"""Forms that nearly any answer may have: they say little of what is asked of this one."""


MOST_WORDS_OF_A_VALUE = 3


def is_prose(value: str) -> bool:
    """Return whether a value is a text that may be worded otherwise, and no name or choice.

    >>> is_prose("New York City"), is_prose("Please refund the order")
    (False, True)
    """
    return len(value.split()) > MOST_WORDS_OF_A_VALUE


def shape_of(value: str) -> str:
    """Return the form of an identifier, a date or the like as a regular expression; empty for a word, and for prose.

    >>> print(shape_of("A-1042"), shape_of("2026-05-31"))
    [A-Z]-\\d{4} \\d{4}-\\d{2}-\\d{2}
    >>> shape_of("hello")
    ''
    """
    if len(value) > LONGEST_SHAPED or " " in value or not _HAS_BOTH.search(value):
        return ""
    return "".join(_class(run) for run in _RUN.findall(value))


def _class(run: str) -> str:
    times = f"{{{len(run)}}}" if len(run) > 1 else ""
    if run.isdecimal():
        return rf"\d{times}"
    if run.isascii() and run.isalpha():
        return f"[{'A-Z' if run.isupper() else 'a-z'}]{times}"
    return "-" if run == "-" else re.escape(run)
