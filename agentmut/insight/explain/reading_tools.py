"""Tools that only look something up, by the first word of their names."""

import re
from functools import lru_cache

from agentmut._base import shipped


@lru_cache(maxsize=1)
def _reading() -> frozenset[str]:
    return frozenset(shipped("agentmut.insight", "function_words")["reading"].split())


def only_reads(tool: str) -> bool:
    """Return whether a tool's name begins with a verb of looking up: another sensible way may call it.

    >>> only_reads("get_balance"), only_reads("lookupOrder"), only_reads("send_money")
    (True, True, False)
    """
    begins = re.match(r"[A-Za-z][a-z]*", tool)
    return begins is not None and begins[0].lower() in _reading()
