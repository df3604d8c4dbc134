"""Whether a tester would write the candidate for this mutant, and how close it is to the change."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.insight.explain.candidates import Candidate
from agentmut.insight.explain.ending_candidates import ENDINGS, WHOLE
from agentmut.insight.explain.key_terms import is_key_term, is_quoted
from agentmut.insight.explain.meaning import Meaning, tools_named
from agentmut.insight.explain.occasion import Occasion, texts_in, usually_feeds
from agentmut.insight.explain.reading_tools import only_reads
from agentmut.insight.explain.shapes import SHAPES, SLIGHT
from agentmut.language import Modality, modality, stated_figures, stems
from agentmut.nouns import EvaluatorSpec, OperatorClass

STATED = 2
"""The changed rule itself asks for it."""
NEAR = 1
"""It speaks of what the changed rule or tool speaks of."""
NEAR_ENOUGH = 0.5
"""The share of a text's stems that a rule has to share with it."""
_WITHOUT = "the answer does not have"
_DATED = SHAPES[0][0]
_DIGIT = re.compile(r"\d")
_MAY_LOOP = (OperatorClass.MODEL, OperatorClass.CONTEXT, OperatorClass.ORCHESTRATION)
_OF_TOOLS = ("tool_called", "tool_not_called", "tool_count", "tool_called_with", "tool_order")
_OF_LIMITS = ("max_steps", "max_cost", "expression")
_OF_TEXTS = ("contains", "not_contains", "states")
_TOLD = re.compile(r"\b(?:tell|say|mention|inform|ask|sag|sagen)\b", re.I)
_FORM = re.compile(
    r"\b(?:as|in|with|als|in form von)\b[^.;:]{0,200}?\b(?:steps|lists?|points|bullets|sentences|paragraphs|tables?|"
    r"headings|schritten?|listen?|punkten?|sätzen?|tabellen?)\b",
    re.I,
)
"""The form that a rule asks for."""
_SAYS = re.compile(
    r"\b(?:say|mention|use|name|write|call|talk|speak|discuss|recommend|state|tell|reveal|disclose|share|"
    r"promise|quote|show|expose|print|repeat|sagen?|nennen?|erwähnen?|verwenden?|sprechen?|"
    r"benutzen?|schreiben?|empfehlen?|verraten?|versprechen?|zeigen?|teilen?)\b",
    re.I,
)
"""A ban with one of these forbids words; others forbid deeds."""
_SIZE = frozenset(stems(shipped("agentmut.insight", "words_of_size")["words"]))
"""Stems of words with which a rule speaks of the length of an answer, or of how much is done."""


def grounding(spec: EvaluatorSpec, meaning: Meaning) -> int:
    """Return `STATED`, `NEAR` or 0: what the evaluator has to do with the change."""
    if spec.name in _OF_TOOLS:
        tools = set(_tools(spec))
        return NEAR * (bool(tools) and tools <= meaning.subjects)
    if spec.name in _OF_LIMITS:
        return NEAR * _speaks_of_size(meaning)
    if spec.name in _OF_TEXTS:
        said = stems(" ".join(texts_in(spec.argument)))
        return NEAR * (bool(said) and len(said & meaning.stems) >= NEAR_ENOUGH * len(said))
    return 0


def is_sensible(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a candidate makes sense for the change, independently of the runs that decide about it.

    Not sensible: a word or name that comes from the mutant's own diff; what a rule asks for under a condition of which
    the user says nothing; a phrase, figure or form that neither a rule nor the data asks for, or that only echoes the
    user; a phrase of a rule that may be put otherwise; an empty field of which the user speaks; a bound of length,
    steps or cost where the changed rule speaks of something else, or states another; an order of tools that no rule and
    no data asks for; a ban of a tool that only reads, or of which the user does not speak; a matter with which neither
    the changed rule nor the changed tool has to do.
    """
    if occasion.meaning.is_of_its_diff(texts_in(candidate.spec.argument)) and candidate.grounded < STATED:
        return False
    if _demands(candidate.spec) and not _is_called_for(candidate, occasion):
        return False
    if not _is_of_the_matter(candidate, occasion) or _contradicts_itself(candidate.spec, occasion):
        return False
    check = _CHECKS.get(candidate.spec.name)
    return check is None or check(candidate, occasion)


def _is_of_the_matter(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a candidate has to do with the changed rule or tool; with any, where no rule or tool is changed.

    Calls have if one of their tools is changed or named, or changes something of which the user speaks: a lost look-up
    can lose what follows it. Data of a tool's result have if that tool is changed or named.
    """
    meaning = occasion.meaning
    if candidate.grounded or not (meaning.rule or meaning.tools):
        return True
    if candidate.spec.name in _OF_TOOLS:
        return any(
            tool in meaning.subjects or _is_asked_for(tool, occasion) for tool in _tools(candidate.spec)
        )
    if candidate.spec.name in ("contains", "states") and meaning.tool_names:
        return occasion.is_returned_by(meaning.subjects, str(candidate.spec.argument))
    return True


def _contradicts_itself(spec: EvaluatorSpec, occasion: Occasion) -> bool:
    """Return whether a candidate asks for what the original does against its own prompt or the user's words.

    That is a call that a rule forbids here, an argument whose value the user gives for another parameter, and data
    that come from calls with such arguments alone.
    """
    if spec.name in _OF_TOOLS and _demands(spec) and any(map(occasion.is_forbidden, _tools(spec))):
        return True
    if spec.name == "tool_called_with" and isinstance(spec.argument, dict):
        made = spec.argument.get("arguments")
        return isinstance(made, dict) and any(occasion.is_misplaced(*one) for one in made.items())
    return spec.name in ("contains", "states") and occasion.comes_from_misplaced(str(spec.argument))


def _demands(spec: EvaluatorSpec) -> bool:
    """Return whether an evaluator asks for something to be done or said; others forbid."""
    if spec.name == "tool_count":
        return isinstance(spec.argument, dict) and "at_most" not in spec.argument
    return spec.name in ("contains", "states", "decides", "tool_called", "tool_called_with", "tool_order")


def _is_called_for(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether the user's words are an occasion for the changed rule, or for the tools that are asked for."""
    rules = [
        rule for rule in occasion.meaning.rule.splitlines() if _grounds(rule, candidate, occasion.meaning)
    ]
    if rules and candidate.grounded and not any(map(occasion.calls_for, rules)):
        return False
    if candidate.spec.name in _OF_TOOLS:
        unknown = set(_tools(candidate.spec)) - set(occasion.meaning.tool_names)
        return set(_tools(candidate.spec)) - unknown <= occasion.tools
    return True


def _grounds(rule: str, candidate: Candidate, meaning: Meaning) -> bool:
    """Return whether a changed rule speaks of a candidate: of all its tools, or of half of its words."""
    return grounding(candidate.spec, replace(meaning, rule=rule, tools=frozenset())) > 0


def _fits_presence(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a rule asks for a text, or it is data that the agent is given and tells in a short answer.

    What is not quoted in the prompt may be said otherwise: of a rule only a key term is asked for, and no echo of the
    user's words.
    """
    text = str(candidate.spec.argument)
    if _is_in_its_words(candidate, occasion):
        return True
    if occasion.is_said(text) or stems(text) <= occasion.stems:
        return False
    if candidate.grounded:
        return is_key_term(text) and _is_told(text, occasion.meaning)
    return not _DIGIT.search(text) and occasion.is_answered_shortly and occasion.is_datum(text)


def _is_told(text: str, meaning: Meaning) -> bool:
    """Return whether a changed rule with a key term asks for something: a ban names what is not to be done."""
    rules = [rule for rule in meaning.rule.splitlines() if not stems(text).isdisjoint(stems(rule))]
    return not rules or any(modality(rule) is not Modality.FORBID and not _is_on_form(rule) for rule in rules)


def _is_on_form(rule: str) -> bool:
    """Return whether a rule gives the form of an answer and nothing to be told: no such answer says its form."""
    return _FORM.search(rule) is not None and _TOLD.search(rule) is None


def _is_in_its_words(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a rule itself says the text word by word."""
    quoted = candidate.grounded and is_quoted(str(candidate.spec.argument), occasion.meaning.prompt)
    return candidate.grounded == STATED or bool(quoted)


def _fits_absence(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a rule forbids the very words, or names the term, which the user does not speak of.

    An agent that refuses, or says what it has not done, needs the user's words for that. All words have to be those
    of a ban, or of what a rule wants said, perhaps on another occasion; a rule about size forbids no words.
    """
    if _is_in_its_words(candidate, occasion):
        return True
    text = str(candidate.spec.argument)
    said, meaning = stems(text), occasion.meaning
    named = candidate.grounded > 0 and is_key_term(text) and said <= _said_or_banned(meaning)
    return named and said.isdisjoint(occasion.stems) and not _speaks_of_size(meaning)


def _said_or_banned(meaning: Meaning) -> frozenset[str]:
    """Return the stems of what the changed rules forbid to say, or want said: conditions and deeds are neither."""
    parts = []
    for rule in meaning.rule.splitlines():
        told = _TOLD.split(rule, maxsplit=1)[1:]
        if modality(rule) is not Modality.FORBID:
            parts.extend(told)
        elif _SAYS.search(rule):
            parts.append(rule)
    return stems(" ".join(parts))


def _fits_figure(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a figure is more than a bare number, and asked for by a rule, or given and no echo of the user."""
    text = str(candidate.spec.argument)
    if candidate.grounded == STATED:
        return True
    if text.isdecimal():
        return False
    if occasion.is_said(text):
        return False
    if candidate.grounded:
        return True
    return occasion.states_few_figures and not occasion.asks_for_no_figure and occasion.is_given(text)


def _fits_form(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a rule or the user speaks of a form, or it is that of identifiers among few figures.

    Of a date that the user speaks of, the form is not asked for: it may be written otherwise. Of a form that nearly any
    answer may have, only a rule asks for it.
    """
    if candidate.says.startswith(_WITHOUT):
        return not stems(candidate.says.removeprefix(_WITHOUT)).isdisjoint(occasion.meaning.stems)
    by_rule = candidate.says.endswith((_DATED, *SLIGHT))
    asked = occasion.meaning.stems | (frozenset() if by_rule else occasion.stems)
    if not stems(candidate.says.removeprefix("the answer has")).isdisjoint(asked):
        return True
    return (
        "form" in candidate.says and "[A-Z]" in str(candidate.spec.argument) and occasion.states_few_figures
    )


def _fits_limit(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether the changed rule speaks of size, or the change may lead to loops or cut answers off."""
    if candidate.spec.argument == WHOLE and occasion.meaning.operator_class is not OperatorClass.MODEL:
        return False
    if candidate.spec.argument in ENDINGS or candidate.grounded == STATED:
        return True
    if candidate.spec.name == "expression" and (
        occasion.answers_in_fields or _is_off(candidate, occasion.meaning)
    ):
        return False
    if candidate.grounded:
        return True
    return candidate.spec.name != "expression" and occasion.meaning.operator_class in _MAY_LOOP


def _is_off(candidate: Candidate, meaning: Meaning) -> bool:
    """Return whether the changed rule states a number, and the bound is read off runs instead."""
    return candidate.grounded < STATED and bool(stated_figures(meaning.rule))


def _fits_field(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a field holds something, or is rightly empty, since the user says nothing of what it names."""
    empty = [name for name, value in _wanted(candidate.spec) if value is None or value == ""]
    return stems(" ".join(empty)).isdisjoint(occasion.stems)


def _wanted(spec: EvaluatorSpec) -> Iterator[tuple[str, JsonValue]]:
    """Yield the fields that an evaluator asks for, with the value; None for a value that has to be null."""
    argument = spec.argument
    if not isinstance(argument, dict):
        return
    if spec.name == "expect":
        yield from argument.items()
        return
    fields = argument.get("properties")
    for name, schema in fields.items() if isinstance(fields, dict) else ():
        yield name, None if schema == {"type": "null"} else schema


def _fits_order(candidate: Candidate, occasion: Occasion) -> bool:
    return candidate.grounded == STATED or _is_meant(candidate.spec, occasion)


def _fits_decision(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a decision is asked for, and the change bears on it.

    A changed rule does if it names a tool that changes something, or forbids something of which the user speaks. A
    changed tool does if it changes something for which the user asks by the words of its name; one that only reads, if
    any such tool is there: without what it reads nothing is done. A sentence more decides nothing.
    """
    meaning = occasion.meaning
    if not occasion.asks_for_decision:
        return False
    if not (meaning.rule or meaning.tools):
        return meaning.operator_class is not OperatorClass.PROMPT
    if not meaning.tool_names:
        return True
    if meaning.tools:
        tools = meaning.tool_names if all(map(only_reads, meaning.tools)) else meaning.tools
        return any(not only_reads(tool) and occasion.is_asked_by_user(tool) for tool in tools)
    return any(_bans_what_is_asked(rule, occasion) for rule in meaning.rule.splitlines()) or not all(
        map(only_reads, meaning.subjects)
    )


def _bans_what_is_asked(rule: str, occasion: Occasion) -> bool:
    return modality(rule) is Modality.FORBID and not stems(rule).isdisjoint(occasion.stems)


def _fits_ban(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a rule forbids a tool, or the user misses its bound, or might be thought to ask for it."""
    tool = str(candidate.spec.argument)
    bound = any(occasion.misses_a_bound(rule) and tools_named(rule, (tool,)) for rule in occasion.rules)
    return candidate.grounded == STATED or bound or _is_at_stake(tool, occasion)


def _is_at_stake(tool: str, occasion: Occasion) -> bool:
    """Return whether a tool changes something, and the user says half of its name or a rule that holds names it."""
    named = any(tools_named(rule, (tool,)) and occasion.calls_for(rule) for rule in occasion.rules)
    return not only_reads(tool) and (named or occasion.is_asked_by_user(tool))


def _is_asked_for(tool: str, occasion: Occasion) -> bool:
    """Return whether a tool changes something of which the user, or a rule that holds here, speaks."""
    return not only_reads(tool) and occasion.speaks_of(tool)


def _fits_count(candidate: Candidate, occasion: Occasion) -> bool:
    """Return whether a count is a least one, or of a tool that changes something: to look twice is sensible, too."""
    argument = candidate.spec.argument
    if candidate.grounded == STATED or not isinstance(argument, dict):
        return True
    return set(argument) == {"tool", "at_least"} or not only_reads(str(argument.get("tool")))


_CHECKS: Mapping[str, Callable[[Candidate, Occasion], bool]] = {
    "contains": _fits_presence,
    "not_contains": _fits_absence,
    "states": _fits_figure,
    "regex": _fits_form,
    "max_steps": _fits_limit,
    "max_cost": _fits_limit,
    "expression": _fits_limit,
    "expect": _fits_field,
    "json_schema": _fits_field,
    "tool_order": _fits_order,
    "tool_not_called": _fits_ban,
    "tool_count": _fits_count,
    "decides": _fits_decision,
}


def _is_meant(spec: EvaluatorSpec, occasion: Occasion) -> bool:
    """Return whether a rule names both tools, or the later tool gets a value that the earlier one returned."""
    if not isinstance(spec.argument, list):  # the whole sequence, call by call
        return False
    first, second = map(str, spec.argument)
    for rule in occasion.meaning.prompt.splitlines():
        named = {tool for _, tool in tools_named(rule, (first, second))}
        if len(named) == 2:
            return True
    return usually_feeds(first, second, occasion.runs)


def _speaks_of_size(meaning: Meaning) -> bool:
    return not _SIZE.isdisjoint(meaning.stems)


def _tools(spec: EvaluatorSpec) -> Iterator[str]:
    argument = spec.argument
    named: JsonValue = argument
    if isinstance(argument, dict):
        named = argument.get("tool", argument.get("tools"))
    yield from map(str, named if isinstance(named, list) else [named])
