"""Candidates from the words of the changed rule: a forbidden word, an ending, an order of tools, a limit, a figure."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from pydantic import JsonValue

from agentmut.insight.explain.candidates import Candidate, candidate
from agentmut.insight.explain.meaning import Meaning, tools_named
from agentmut.insight.explain.views import View
from agentmut.judging import EndsWith, StartsWith
from agentmut.language import (
    STOP_WORDS,
    Figure,
    Modality,
    modality,
    reads_as_foreign,
    stated_figures,
    value_of,
)

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,80})[\"”“»]|(?<!\w)'([^'\n]{2,80})'(?!\w)")
_NAMED_WORD = re.compile(r"\b(?:word|term|phrase|expression|name)s? ([\w-]+)")
_RATHER = re.compile(
    r"(?:[\"“„«'][^\"“”„«»'\n]{2,80}[\"”“»'])\W{1,20}(?:and )?(?:not|never|rather than|instead of|nicht|statt)\W{1,20}"
    r"[\"“„«']([^\"“”„«»'\n]{2,80})[\"”“»']",
    re.I,
)
"""One word is to be said rather than another: an answer need not have the first, and may not have the second.

At most 20 marks and blanks stand before and behind "not".
"""
_ENDS = re.compile(
    r"\b(?:end|close|finish|sign off|beenden?|schlie(?:ß|ss)en?|termin(?:a|ar|e|ez|er)|finaliza|finissez|finis)\b",
    re.I,
)
_BEGINS = re.compile(
    r"\b(?:begin|start|open|beginnen?|starten?|empieza|comienza|empiece|comience|commence[rz]?)\b", re.I
)
_PLAIN_ENDING = re.compile(r"\bwith (?!an? |the |your |their |his |her |its )([^.;:]{2,60}?)[.!]?$", re.I)
_LIMIT = re.compile(
    r"\b(?:at most|no more than|not more than|under|below|fewer than|less than|up to|within|maximum of|max\.?|"
    r"höchstens|maximal|nicht mehr als|weniger als|unter|bis zu)\s+([\w-]+)\s+(?:words|wörtern?)\b",
    re.I,
)
_BELOW = re.compile(r"\b(?:under|below|fewer than|less than|weniger als|unter)\b", re.I)
_FOREIGN_BAN = re.compile(
    r"\b(?:nie|niemals|nicht|kein(?:e[nmrs]?)?)\b(?! (?:mehr als|nur)\b)"
    r"|\b(?:nunca|jamás|no (?:utili[cz]es?|uses?|digas?|mencion(?:es?|e)|escrib(?:as?)|llam(?:es?)|hagas?))\b"
    r"|\bn(?:e |['’])[^,;.]{0,200}\b(?:pas|jamais)\b",
    re.I,
)
"""Negations of German, Spanish and French; the two words of a French one stand at most 200 characters apart."""
_PHONE = re.compile(r"(?<![\w.,:/€$£+-])(?:\+|0)?\d{2,5}(?:[ /-]\d{2,8}){1,4}(?![\w.,:/%-]*\d)")
_LEAST_DIGITS = 7
"""Digits of a telephone number; fewer may be a range or a date."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLAUSE = re.compile(r"[^,;:]*(?:[\"“„«][^\"“”„«»]*[\"”“»][^,;:]*)*")
_ONCE = re.compile(r"\b(?:only once|once only|at most once|twice)\b", re.I)
_ALLOWS = re.compile(r"\b(?:only after|before|until|unless|without|nur nach|bevor|ohne)\b", re.I)
"""A ban that names the way in which the deed is allowed."""
_INSTEAD = re.compile(r"\b(?:instead|rather|stattdessen)\b", re.I)
_THEN = re.compile(r"\b(?:then|dann)\b", re.I)


def of_rule(meaning: Meaning) -> Iterator[Candidate]:
    """Yield the demands in the words of each changed rule, without a look at runs."""
    for rule in meaning.rule.splitlines():
        forbids = modality(rule) is Modality.FORBID
        yield from _words_of(rule, forbids=forbids)
        yield from _tools_of(rule, meaning.tool_names, forbids=forbids)
        yield from _limit_of(rule)
        if not forbids:
            yield from _figures_of(rule)
            yield from _phones_of(rule)


def _words_of(rule: str, *, forbids: bool) -> Iterator[Candidate]:
    quoted = [first or second for first, second in _QUOTED.findall(rule)]
    if rather := _RATHER.search(rule):
        yield _text_candidate("not_contains", rather[1], f"the answer does not have “{rather[1]}”", 0.9)
        return
    english = forbids and not reads_as_foreign(rule)
    if banned := [] if english else list(_banned_elsewhere(rule)):
        for phrase in banned:
            yield _text_candidate("not_contains", phrase, f"the answer does not have “{phrase}”", 0.9)
        return
    if forbids:
        named = [
            word for word in _NAMED_WORD.findall(_QUOTED.sub(" ", rule)) if word.casefold() not in STOP_WORDS
        ]
        for phrase in dict.fromkeys([*quoted, *named]):
            yield _text_candidate("not_contains", phrase, f"the answer does not have “{phrase}”", 0.9)
        return
    plain = _PLAIN_ENDING.search(rule)
    ending = quoted or ([plain[1].strip("*_` ")] if plain else [])
    if _ENDS.search(rule) or _BEGINS.search(rule):
        for phrase in ending[:1]:
            yield _at_edge(phrase, at_end=bool(_ENDS.search(rule)))
        quoted = quoted[1:]
    for phrase in quoted:
        yield _text_candidate("contains", phrase, f"the answer has “{phrase}”", 0.85)


def _banned_elsewhere(rule: str) -> Iterator[str]:
    """Yield the quotations that a rule forbids which is not English: those of a clause with a negation.

    >>> list(_banned_elsewhere("Das Wort „billig“ verwenden wir nicht, wir schreiben „günstig“."))
    ['billig']
    >>> list(_banned_elsewhere('No utilices la palabra "barato"; di "económico".'))
    ['barato']
    >>> list(_banned_elsewhere("Beträge schreiben Sie mit „Euro“, nicht mit dem Zeichen."))
    []
    """
    for clause in _CLAUSE.findall(rule):
        if _FOREIGN_BAN.search(_QUOTED.sub(" ", clause)):
            yield from (first or second for first, second in _QUOTED.findall(clause))


def _text_candidate(name: str, text: str, says: str, generality: float) -> Candidate:
    folded = text.strip().rstrip(".,;").casefold()
    holds = partial(_contains, folded) if name == "contains" else partial(_lacks, folded)
    return candidate(name, text.strip().rstrip(".,;"), says, generality, holds)


def _contains(text: str, view: View) -> bool:
    return text in view.folded


def _lacks(text: str, view: View) -> bool:
    return text not in view.folded


def _at_edge(quoted: str, *, at_end: bool) -> Candidate:
    text = quoted.strip()
    says = f"the answer {'ends' if at_end else 'begins'} with “{quoted}”"
    name: str = "ends_with" if at_end else "starts_with"
    edge = (EndsWith if at_end else StartsWith)(text)
    return candidate(name, text, says, 0.95, partial(_at, edge))


def _at(edge: EndsWith | StartsWith, view: View) -> bool:
    return edge.holds(view.text)


def _tools_of(rule: str, tools: Sequence[str], *, forbids: bool) -> Iterator[Candidate]:
    named = tools_named(rule, tools)
    for order in _orders_of(rule.casefold(), named):
        says = f"{order[0]} is called before {order[1]}"
        yield candidate("tool_order", [*order], says, 0.95, partial(_before, *order))
    for _, tool in named:
        banned = (forbids and not _is_asked_instead(rule, tool)) or is_negated_there(rule, tool)
        if banned and _ALLOWS.search(rule):
            continue
        if banned:
            yield candidate(
                "tool_not_called", tool, f"{tool} is not called", 0.95, partial(_calls, tool, False)
            )
        else:
            yield candidate("tool_called", tool, f"{tool} is called", 1.0, partial(_calls, tool, True))
        if _ONCE.search(rule):
            argument: JsonValue = {"tool": tool, "at_most": 1}
            yield candidate(
                "tool_count", argument, f"{tool} is called at most once", 0.9, partial(_once, tool)
            )


def _is_asked_instead(rule: str, tool: str) -> bool:
    """Return whether a ban names a tool only as what is to be done instead.

    >>> _is_asked_instead("Never pay more than 200 dollars; call `ask_manager` instead.", "ask_manager")
    True
    >>> _is_asked_instead("Never call `ask_manager`; tell them so instead.", "ask_manager")
    False
    """
    clauses = [clause for clause in re.split(r"[;:]|, (?:but|and)\b", rule) if tools_named(clause, (tool,))]
    return bool(clauses) and all(
        _INSTEAD.search(clause) and modality(clause) is not Modality.FORBID for clause in clauses
    )


def is_negated_there(rule: str, tool: str) -> bool:
    """Return whether a rule names a tool in a clause with a negation that is not English.

    >>> is_negated_there("Melde dann keine Störung mit `stoerung_melden`.", "stoerung_melden")
    True
    >>> is_negated_there("Gib keine Auskunft, rufe `schaden_status` auf.", "schaden_status")
    False
    """
    clauses = [clause for clause in _CLAUSE.findall(rule) if tools_named(clause, (tool,))]
    return bool(clauses) and all(_FOREIGN_BAN.search(_QUOTED.sub(" ", clause)) for clause in clauses)


def _orders_of(rule: str, named: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of tools whose order a rule asks for; of several tools on one side of it, each.

    >>> rule = "verify the customer before you show a contract or book an engineer"
    >>> list(_orders_of(rule, [(0, "verify_customer"), (31, "show_contract"), (50, "book_engineer")]))
    [('verify_customer', 'show_contract'), ('verify_customer', 'book_engineer')]
    """
    for (start, first), (end, second) in combinations(named, 2):
        head, between = rule[: named[0][0]], rule[start:end]
        opening = head if "," in between else ""
        if order := _order(opening, between, first, second):
            yield order


def _order(head: str, between: str, first: str, second: str) -> tuple[str, str] | None:
    """Return two tools in the order that a rule asks for: `A before B`, `B after A`, `before B, A`, `after A, B`.

    `head` is what stands in front of every tool that the rule names.
    """
    if re.search(
        r"\b(?:before|prior to|bevor|danach|anschließend|antes de|avant de)\b", between
    ) or _THEN.search(between):
        return first, second
    if re.search(r"\b(?:after|once|nachdem|sobald|después de|après)\b", between):
        return second, first
    if re.search(r"\b(?:before|bevor)\b[^.,]*$", head):
        return second, first
    return (first, second) if re.search(r"\b(?:after|once|first|nachdem|sobald)\b[^.,]*$", head) else None


def _before(first: str, second: str, view: View) -> bool:
    tools = view.tools
    return first in tools and second in tools[tools.index(first) + 1 :]


def _calls(tool: str, wanted: bool, view: View) -> bool:
    return (tool in view.counts) is wanted


def _once(tool: str, view: View) -> bool:
    return view.counts[tool] <= 1


def _limit_of(rule: str) -> Iterator[Candidate]:
    for match in _LIMIT.finditer(rule):
        number = int(match[1]) if match[1].isdecimal() else value_of(match[1])
        if number:
            below = _BELOW.search(match[0]) is not None  # the rule's own number: a reader finds it there
            named, sign, most = ("fewer than", "<", number - 1) if below else ("at most", "<=", number)
            says = f"the answer has {named} {number} words"
            yield candidate(
                "expression", f"len(text.split()) {sign} {number}", says, 0.9, partial(_short, most)
            )


def _short(most: int, view: View) -> bool:
    return view.words <= most


def _figures_of(rule: str) -> Iterator[Candidate]:
    for figure, text in stated_figures(rule).items():
        if not text.isdecimal() and not _LIMIT.search(rule):
            yield candidate("states", text, f"the answer states {text}", 0.9, partial(_states, figure))


def _states(figure: Figure, view: View) -> bool:
    return figure in view.figures


def _phones_of(rule: str) -> Iterator[Candidate]:
    """Yield the telephone numbers that a rule gives.

    >>> [one.spec.argument for one in _phones_of("Nenne die 0800 555 0112, erreichbar 2026-01-05 bis 10-12 Uhr.")]
    ['0800 555 0112']
    """
    for match in _PHONE.finditer(rule):
        number = match[0]
        if sum(map(str.isdigit, number)) >= _LEAST_DIGITS and not _DATE.fullmatch(number):
            yield _text_candidate("contains", number, f"the answer has “{number}”", 0.9)
