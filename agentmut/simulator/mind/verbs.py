"""Verbs that orders begin with, in any field: with them an order is told from the name of a matter."""

import re

_VERBS = """
accept acknowledge add address adjust advise agree allow announce answer apologise apologize apply approve
arrange ask assign assist assume attach avoid be begin block bring call cancel check choose cite clarify
close collect comply compute confirm consider consult contact contain continue convert create decline defer
delete deny describe direct disclose discuss do double-check draft emphasise emphasize encourage end enter
ensure establish explain express fetch file fill find finish flag follow forward gather generate get
give go greet guess guide hand have help highlight hold identify ignore include indicate inform inspect
insist invent invite issue keep leave let limit list listen locate log look maintain make mark mention name
note notify obtain offer open order pass pay point prefer present prioritise prioritize proceed process
promise propose provide put query quote raise read recommend record redirect refer refrain refuse register
reject remain remember remind remove repeat reply report request respond return reveal review route run say
schedule search seek select send set share show sign speak specify start state stay stick stop submit suggest
summarise summarize take talk tell thank transfer translate treat try turn understand update urge use
validate verify wait warn wish withhold write
"""
VERBS = frozenset(_VERBS.split())
_SUPPORTING = """
please you we then never don't always first only also not must should may do avoid simply just immediately
politely kindly
"""
_STARTING = VERBS | frozenset(_SUPPORTING.split())
_AMBIGUOUS_VERBS = """
address answer approve call cancel check close contact end file finish flag hold issue list log look name
note offer open order pass process promise query quote record request report return review run search send set
share show sign start state stop transfer update use wait
"""
_AMBIGUOUS = frozenset(_AMBIGUOUS_VERBS.split())
"""Also names of things: "Return requests" is no order."""
_FIRST = re.compile(r"[a-z][a-z'-]*")


def orders(words: str) -> bool:
    """Whether words begin as an order does: with a verb, or with "you", "please", "never".

    >>> orders("tell them that it is on"), orders("the lamp is on")
    (True, False)
    """
    return _first(words) in _STARTING


def surely_orders(words: str) -> bool:
    """Whether words give an order and cannot name a matter: "Lamp", "Return requests" do not order.

    >>> surely_orders("Return requests"), surely_orders("Keep in mind")
    (False, True)
    """
    return _first(words) in _STARTING - _AMBIGUOUS


def _first(words: str) -> str:
    match = _FIRST.match(words.lower().replace("’", "'").lstrip())
    return match.group() if match else ""
