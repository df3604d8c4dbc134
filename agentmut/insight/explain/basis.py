"""The grounds on which a candidate is more than a difference between runs: the prompt, or the user, asks for it.

What an agent happened to do is no ground, since the agent may be wrong. Graders accepted candidates with one of these
grounds, and rejected most others: `benchmarks/proposals` counts both.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.insight.explain.bounds import bounds
from agentmut.insight.explain.candidates import Candidate
from agentmut.insight.explain.ending_candidates import ANSWERED, WHOLE
from agentmut.insight.explain.key_terms import is_unit_word
from agentmut.insight.explain.meaning import tools_named
from agentmut.insight.explain.misplaced import telling_words, words_beside
from agentmut.insight.explain.occasion import Occasion, conditions_of, texts_in
from agentmut.insight.explain.reading_tools import only_reads
from agentmut.insight.explain.rule_candidates import is_negated_there, of_rule
from agentmut.judging import as_text
from agentmut.language import NO, STOP_WORDS, YES, Modality, decisions, modality, stem, stems
from agentmut.nouns import Basis, EvaluatorSpec, OperatorClass, Step

HALF = 0.5
"""The share of a condition's telling words that the user has to say."""
_WANTS = re.compile(
    r"\b(?:need|want|like|have|get|brauche|möchte|hätte gern)\b"
    r"(?: (?:a|an|the|my|some|eine?n?|die|der|das))?((?: [\w-]+){1,2})",
    re.I,
)
_ORDERED = re.compile(r"\b(?:after|before|once|nachdem|bevor|antes de|después de|avant de|après)\b", re.I)
_TELLS = re.compile(r"\b(?:tell|say|mention|inform|remind|state|sag\w*|nenne\w*|erwähne\w*|erinnere)\b", re.I)
_PERMITS = re.compile(r"\b(?:may|can|darf|kann|only|unless|without|nur|ohne|außer)\b(?! not\b)", re.I)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|\.)", re.I)
_FAILED = re.compile(r"\b(?:error|unknown|invalid|failed|failure|fehler|unbekannt|ungültig)\b", re.I)
_GERMAN_BAN = re.compile(r"\b(?:kein\w*|nie|niemals|nicht)\b", re.I)
"""The kind of a rule is read in English alone, so a negated German rule that names a tool is taken for a ban."""


def basis_of(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground on which a person may write the candidate; `Basis.SEEN` where it only differs between runs.

    A rule is a ground if it asks for the very thing, and its condition holds by the user's own words. A request is one
    if the user names the tool, and gives the value of each argument. Nothing else is.
    """
    check = _CHECKS.get(candidate.spec.name)
    return check(candidate, occasion) if check and occasion.turns else Basis.SEEN


def _by_rule(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return `RULE` if a rule that holds here asks for it in these words."""
    return (
        Basis.RULE
        if any(_holds(rule, occasion) for rule in rules_for(candidate.spec, occasion))
        else Basis.SEEN
    )


def rules_for(spec: EvaluatorSpec, occasion: Occasion) -> Iterator[str]:
    """Yield the rules of the prompt that ask for this evaluator, whether or not they hold here."""
    for rule in occasion.rules:
        if any(asked.spec == spec for asked in of_rule(replace(occasion.meaning, rule=rule))):
            yield rule


def _of_edge(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of how an answer begins or ends: no change of a tool or of the model has to do with it.

    A model that stops early loses its last words, whatever they are: that an answer is whole is asked for elsewhere.
    """
    meaning = occasion.meaning
    off = meaning.tools or (meaning.operator_class is OperatorClass.MODEL and not meaning.rule)
    return Basis.SEEN if off else _by_rule(candidate, occasion)


def _of_expression(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of an expression: a rule sets the limit, or an answer is lost or cut off.

    Whoever asks wants an answer. That it is whole is asked for where the model is changed, as by a lower limit.
    """
    is_cut = candidate.spec.argument == WHOLE and occasion.meaning.operator_class is OperatorClass.MODEL
    if candidate.spec.argument == ANSWERED or is_cut:
        return Basis.REQUEST
    return _by_rule(candidate, occasion)


def _of_ban(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of a forbidden text: the changed rule quotes it."""
    changed = any(rule in occasion.meaning.rule for rule in rules_for(candidate.spec, occasion))
    return (
        _by_rule(candidate, occasion)
        if changed and not occasion.is_said(str(candidate.spec.argument))
        else Basis.SEEN
    )


def _of_figure(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of a figure: a rule wants it told here, and the user does not say it."""
    if occasion.is_said(str(candidate.spec.argument)):
        return Basis.SEEN
    told = (rule for rule in rules_for(candidate.spec, occasion) if _TELLS.search(rule))
    return Basis.RULE if any(_holds(rule, occasion) for rule in told) else Basis.SEEN


def _of_order(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of an order: a rule asks for it, and the user for the later tool."""
    argument = candidate.spec.argument
    if not isinstance(argument, list) or not is_requested(str(argument[-1]), occasion):
        return Basis.SEEN
    return Basis.RULE if any(True for _ in rules_for(candidate.spec, occasion)) else Basis.SEEN


def _of_banned_tool(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of a forbidden tool: a rule forbids it, and the user asks for it or the rule is changed.

    All words of the rule's condition have to be the user's, or those of a tool's result. A changed rule has to write
    the tool's name.
    """
    tool = str(candidate.spec.argument)
    known = occasion.stems | stems(" ".join(_results(occasion)))
    for rule in occasion.rules:
        banned = modality(rule) is Modality.FORBID or is_negated_there(rule, tool)
        telling = stems(" ".join(conditions_of(rule))) - occasion.usual_in_rules
        meant = _names(tool, occasion) or (rule in occasion.meaning.rule and tool in rule)
        if banned and not _PERMITS.search(rule) and tools_named(rule, (tool,)) and telling <= known and meant:
            return Basis.RULE
    return Basis.SEEN


def _of_call(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of a call: the user asks for it, and gives the arguments."""
    argument = (
        candidate.spec.argument
        if isinstance(candidate.spec.argument, dict)
        else {"tool": candidate.spec.argument}
    )
    tool, made = str(argument.get("tool", "")), argument.get("arguments", {})
    if not candidate.grounded or "matching" in argument or not isinstance(made, dict):
        return Basis.SEEN
    given = all(_is_given_by_user(tool, name, value, occasion) for name, value in made.items())
    alone = len({as_text(value) for value in made.values()}) == len(made)
    return Basis.REQUEST if given and alone and is_requested(tool, occasion) else Basis.SEEN


def _of_count(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of a count: what the user asks for is done once."""
    argument = candidate.spec.argument
    if not isinstance(argument, dict) or only_reads(str(argument["tool"])):
        return Basis.SEEN
    once = argument.get("exactly", argument.get("at_most")) == 1
    return _of_call(candidate, occasion) if once else Basis.SEEN


def _of_decision(candidate: Candidate, occasion: Occasion) -> Basis:
    """Return the ground of a decision: a changed tool does what is asked, or a changed rule forbids it."""
    if candidate.spec.argument == YES:
        done = any(is_requested(tool, occasion) and not only_reads(tool) for tool in occasion.meaning.tools)
        return Basis.REQUEST if done else Basis.SEEN
    for rule in occasion.meaning.rule.splitlines():
        named = (tool for _, tool in tools_named(rule, occasion.meaning.tool_names))
        if (
            modality(rule) is Modality.FORBID
            and _holds(rule, occasion)
            and any(_names(t, occasion) for t in named)
        ):
            return Basis.RULE
    return Basis.SEEN


_CHECKS: Mapping[str, Callable[[Candidate, Occasion], Basis]] = {
    "starts_with": _of_edge,
    "ends_with": _of_edge,
    "contains": _by_rule,
    "not_contains": _of_ban,
    "expression": _of_expression,
    "states": _of_figure,
    "decides": _of_decision,
    "tool_order": _of_order,
    "tool_not_called": _of_banned_tool,
    "tool_called": _of_call,
    "tool_called_with": _of_call,
    "tool_count": _of_count,
}


def _holds(rule: str, occasion: Occasion) -> bool:
    """Return whether the user's words meet a rule's condition: half of its telling words, and each of its bounds.

    A rule on what comes before or after a tool's call holds where the user asks for that tool.
    """
    conditions = conditions_of(rule)
    if not conditions:
        return True
    if any(bounds(one) for one in conditions) and not occasion.meets_bounds(rule):
        return False
    if _ORDERED.search(rule):
        named = [tool for _, tool in tools_named(" ".join(conditions), occasion.meaning.tool_names)]
        if named:
            return any(is_requested(tool, occasion) for tool in named)
    telling = occasion.telling(conditions)
    return bool(telling) and len(telling & occasion.stems) >= HALF * len(telling)


def is_requested(tool: str, occasion: Occasion) -> bool:
    """Return whether the user asks for a tool, or a rule that holds here does, and its results tell of no failure."""
    banned = (rule for rule in occasion.rules if _GERMAN_BAN.search(rule) and tools_named(rule, (tool,)))
    if occasion.is_forbidden(tool) or any(banned) or _fails(tool, occasion):
        return False
    return _names(tool, occasion) or any(map(_asks_for(tool, occasion), occasion.rules))


def _asks_for(tool: str, occasion: Occasion) -> Callable[[str], bool]:
    """Return whether a rule asks for a tool here: beside an order of tools, or under a condition that holds."""

    def asks(rule: str) -> bool:
        if modality(rule) is Modality.FORBID or not tools_named(rule, (tool,)):
            return False
        others = [one for _, one in tools_named(rule, occasion.meaning.tool_names) if one != tool]
        conditions = conditions_of(rule)
        if others and _ORDERED.search(rule):
            return any(_names(one, occasion) and not _fails(one, occasion) for one in others)
        if tools_named(" ".join(conditions), (tool,)):  # it says when, and asks for something else
            return False
        return bool(conditions) and _holds(rule, occasion)

    return asks


def _names(tool: str, occasion: Occasion) -> bool:
    """Return whether the user says all words of a tool's name, or wants the thing that its last word names.

    Of a name of three words or more, the first may be missing: it is the verb.
    """
    written = [one for one in re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", tool)) if one]
    telling = [stem(one.casefold()) for one in written if stems(one)]
    if not telling:
        return False
    if set(telling) <= occasion.stems or (len(telling) > 2 and set(telling[1:]) <= occasion.stems):
        return True
    wanted = stems(" ".join(_WANTS.findall(occasion.turns)))
    return not only_reads(tool) and telling[-1] in wanted


def _fails(tool: str, occasion: Occasion) -> bool:
    """Return whether the results of a tool tell of a failure in half of the runs that call it."""
    last = [
        calls[-1] for view in occasion.runs if (calls := [c for c in view.trace.tool_calls if c.tool == tool])
    ]
    return bool(last) and 2 * sum(map(_tells_failure, last)) >= len(last)


def _tells_failure(step: Step) -> bool:
    told = " ".join(texts_in(step.output))
    refused = bool(_FAILED.search(told)) or decisions(told) == {NO}
    return step.error is not None or refused or _is_negated(told)


def _is_negated(text: str) -> bool:
    return not _negating().isdisjoint(re.findall(r"[\w']+", text.casefold()))


def _negating() -> frozenset[str]:
    return frozenset(shipped("agentmut.insight", "function_words")["negating"].split())


def _results(occasion: Occasion) -> Iterator[str]:
    for view in occasion.runs:
        told = chain.from_iterable(texts_in(step.output) for step in view.trace.tool_calls)
        yield from (text for text in told if not _is_negated(text))  # `no overdue rent` tells of none


def _is_given_by_user(tool: str, name: str, value: JsonValue, occasion: Occasion) -> bool:
    """Return whether the user gives a value: a number, an identifier, a name, or one of the parameter's options.

    Other words may be any words of the request: `Termin` of `Kann ich einen Termin buchen` is no name.
    """
    text = as_text(value)
    if isinstance(value, bool | dict | list) or value is None or not _is_word_of(text, occasion.turns):
        return False
    if isinstance(value, int | float):
        return True
    if any(parameter == name and value in options for parameter, options in occasion.meaning.options):
        return True
    said = telling_words(name) & occasion.stems
    if said and said.isdisjoint(words_beside(text, occasion.turns)):
        return False  # the user gives another value beside the parameter's word
    if any(character.isdigit() for character in text):
        return not _ORDINAL.fullmatch(text) and _is_identifying(text)
    own = stems(f"{tool} {' '.join(occasion.meaning.tool_texts)} {name}")
    return _is_name(text, occasion.turns) and stems(text).isdisjoint(own)


def _is_identifying(text: str) -> bool:
    """Return whether a value with digits identifies something: all other words are names, or units after a number.

    >>> [_is_identifying(text) for text in ("FT-415", "40 pounds", "9 March", "order FT-415", "table for 2")]
    [True, True, True, False, False]
    """
    said = text.split()
    return all(
        one[:1].isupper() or any(map(str.isdigit, one)) or (is_unit_word(one) and _is_number(before))
        for before, one in pairwise(["", *said])
    )


def _is_number(word: str) -> bool:
    return word.replace(",", "").replace(".", "").isdigit()


def _is_word_of(text: str, user_text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(text.removesuffix('.0'))}(?![\w-])", user_text, re.I) is not None


def _is_name(text: str, user_text: str) -> bool:
    """Return whether all words are written with a capital letter where the user says them, and none is a stop word."""
    several = text.split()
    return bool(several) and all(
        one[:1].isupper() and one.casefold() not in STOP_WORDS and f" {one}" in user_text for one in several
    )
