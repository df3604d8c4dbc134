"""Tools that only look something up, by the verb in their names."""

import re
from functools import lru_cache

from agentmut._base import shipped


@lru_cache(maxsize=1)
def _first() -> frozenset[str]:
    return frozenset(shipped("agentmut.insight", "function_words")["reading"].split())


@lru_cache(maxsize=1)
def _last() -> frozenset[str]:
    return frozenset(shipped("agentmut.insight", "function_words")["reading_last"].split())


def only_reads(tool: str) -> bool:
    """Return whether a tool's name begins with a verb of looking up: another sensible way may call it.

    A German name ends with it.

    >>> only_reads("get_balance"), only_reads("lookupOrder"), only_reads("send_money")
    (True, True, False)
    >>> only_reads("vertrag_pruefen"), only_reads("buscarVuelos"), only_reads("termin_buchen")
    (True, True, False)
    """
    said = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).casefold())
    return bool(said) and (said[0] in _first() or said[-1] in _last())
