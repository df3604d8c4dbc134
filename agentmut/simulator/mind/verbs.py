"""Verbs that begin orders in any field: they distinguish an order from the name of a matter."""

import re

from agentmut._base import shipped

_SHIPPED = shipped("agentmut.simulator.mind", "word_lists")
VERBS = frozenset(_SHIPPED["verbs"].split())
_STARTING = VERBS | frozenset(_SHIPPED["words_before_verbs"].split())
_AMBIGUOUS = frozenset(_SHIPPED["verbs_that_are_nouns_too"].split())
"""Also names of things: "Return requests" is no order."""
_FIRST = re.compile(r"[a-z][a-z'-]*")


def orders(words: str) -> bool:
    """Return whether words begin as an order does: with a verb, or with "you", "please", "never".

    >>> orders("tell them that it is on"), orders("the lamp is on")
    (True, False)
    """
    return _first(words) in _STARTING


def surely_orders(words: str) -> bool:
    """Return whether words give an order and cannot name a matter: "Lamp", "Return requests" do not order.

    >>> surely_orders("Return requests"), surely_orders("Keep in mind")
    (False, True)
    """
    return _first(words) in _STARTING - _AMBIGUOUS


def _first(words: str) -> str:
    match = _FIRST.match(words.lower().replace("’", "'").lstrip())
    return match.group() if match else ""
