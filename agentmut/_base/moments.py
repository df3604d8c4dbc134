"""Times as people write them in options and settings."""

import re
from datetime import UTC, datetime

from agentmut._base.errors import UsageError

_AGO = re.compile(r"(\d+)([dh])")
_SECONDS = {"d": 86_400, "h": 3_600}


def moment(text: str, now: float, option: str) -> float:
    """Return a time in seconds since the epoch, of `2026-05-01`, `2026-05-01T12:00`, or `7d` and `12h` ago.

    Times without a zone are UTC. Raises `UsageError`, which names the option.

    >>> moment("2d", 172_800.0, "--since"), moment("1970-01-02", 0.0, "--since")
    (0.0, 86400.0)
    """
    if ago := _AGO.fullmatch(text):
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option}: {text!r} is no time. Write 2026-05-01, 2026-05-01T12:00, 7d or 12h."
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
