"""Turn scores of inspect_ai into pass or fail."""

from collections.abc import Mapping
from typing import Any

from agentmut._base import PassScore, passes, score_reason

YES_AND_NO = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""The numbers for scorers' letters: correct, partly correct, incorrect and unanswered."""


def judged(value: Any, name: str, least: PassScore, comment: str = "") -> tuple[bool, str] | None:
    """Return whether a score passes, and why; None if it is neither yes nor no and no least score is set.

    Of several values under names of their own, all that can be judged have to pass. What is partly correct passes
    only where a least score says so.

    >>> judged("C", "includes", None), judged(0.4, "f1", 0.5)
    ((True, "includes is 'C'"), (False, 'f1 is 0.4, and 0.5 would pass'))
    """
    if isinstance(value, Mapping):
        found = [one for key, v in value.items() if (one := judged(v, str(key), least, comment)) is not None]
        return next((one for one in found if not one[0]), found[0] if found else None)
    number = YES_AND_NO.get(value.lower()) if isinstance(value, str) else None
    if number is None:
        ok = passes(value, name, least)
    else:
        compared = passes(number, name, least)
        ok = number == 1.0 if compared is None else compared
    return None if ok is None else (ok, score_reason(value, name, least, comment))
