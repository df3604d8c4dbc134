"""Whether a scenario is an occasion for what an assertion asks: the user's words, and what tools and documents say."""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import median

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.insight.explain.bounds import is_met, is_missed
from agentmut.insight.explain.key_terms import is_key_term, is_unit_word
from agentmut.insight.explain.meaning import Meaning, tools_named
from agentmut.insight.explain.misplaced import has_misplaced, is_misplaced, parameters_of
from agentmut.insight.explain.shapes import is_prose
from agentmut.insight.explain.views import View
from agentmut.language import STOP_WORDS, Modality, modality, stem, stems, words
from agentmut.nouns import Action, OperatorClass

_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|after|before|once|where|who|while|in case|falls|wenn|sobald|nachdem|bevor|sofern"
    r"|si|cuando|antes de|después de|quand|lorsque|avant de|après)\b([^,.;:]*)",
    re.I,
)
_OPENING = re.compile(r"\A\W*(?:for|für|bei)\b([^,.;:]*),", re.I)
"""`For groups, ...`: a rule for these alone."""
_ORDER = re.compile(r"\b(?:after|before|once|nachdem|bevor|antes de|después de|avant de|après)\b", re.I)
_ALLOWS = re.compile(r"\b(?:before|until|unless|without|except|only|more than|bevor|ohne|außer|nur)\b", re.I)
_TOPIC = re.compile(r"\W*([^\W\d_][^.:;,?!\n]{2,40}):\s+\S")
_ASKS_FOR_A_THING = re.compile(
    r"\W*(?:(?:hi|hello|hey|hallo|please|and|but|so)\b\W*)*"
    r"(?:what|which|who|whom|whose|where|when|why|how|welche[rsmn]?|wer|wem|wen|wo|wann|warum|wie|wieso|woher)\b",
    re.I,
)
_ASKS_WHO_OR_WHY = re.compile(
    r"\W*(?:and |und )?(?:who|whom|whose|why|wer|wem|wen|wessen|warum|wieso|weshalb)\b", re.I
)
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][a-z]\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
FEW = 4
"""With fewer rules or tools than this, a word that more than half of them have may still tell them apart."""
FEW_FIGURES = 3
"""An answer with more figures than these, which the user did not say, gives no single one as the answer."""
SHORT = 60
"""Words: a longer answer tells more than what was asked for."""


@dataclass(frozen=True)
class Occasion:
    """A mutant on a scenario, as far as it shows what an agent has to do there."""

    meaning: Meaning
    turns: str
    """What the user says; empty if that is not known."""
    runs: Sequence[View]
    """Runs of the original."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of the content words that the user says."""
        return stems(self.turns)

    @cached_property
    def asks_for_decision(self) -> bool:
        """Return whether the user asks for an act, or a question of yes or no; a question with `what` asks for neither.

        Where nothing is known of the user, a decision is taken to be asked for.
        """
        said = [one for one in _SENTENCE.split(self.turns) if one.strip()]
        asked = [one for one in said if one.rstrip().endswith("?")] or said
        return not asked or not all(_ASKS_FOR_A_THING.match(one) for one in asked)

    @cached_property
    def asks_a_question(self) -> bool:
        """Return whether any sentence of the user is a question; True where nothing is known of the user."""
        return not self.turns or bool(self._questions) or not self.asks_for_decision

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """Return all rules of the original's prompt."""
        return (*self.meaning.rule.splitlines(), *self.meaning.other_rules)

    def calls_for(self, rule: str) -> bool:
        """Return whether a rule holds here: without a condition, or where the user's words have to do with it.

        They have if they share a telling word with the condition, or half of the name of a tool that the rule names.
        A word that more than half of the rules have tells nothing, unless the condition has no other.
        Of a rule on what comes before or after something, only the tool of the condition counts: "Find the patient
        before booking" holds where something is booked.
        A condition with a bound does not hold where the user's own numbers are on the other side of it.
        """
        conditions = conditions_of(rule)
        if not self.turns or not conditions:
            return True
        if self.misses_a_bound(rule):
            return False
        if not self.telling(conditions).isdisjoint(self.stems):
            return True
        asked = " ".join(conditions) if _ORDER.search(rule) else rule
        named = (stems(tool) for _, tool in tools_named(asked, self.meaning.tool_names))
        return any(2 * len(one & self.stems) >= len(one) > 0 for one in named)

    def telling(self, conditions: Iterable[str]) -> frozenset[str]:
        """Return the stems of conditions that tell them apart from other rules; all stems where none does."""
        said = stems(" ".join(conditions))
        return said - self.usual_in_rules or said

    def misses_a_bound(self, rule: str) -> bool:
        """Return whether the user's numbers are on the other side of a bound in a rule's condition."""
        return any(is_missed(condition, self.turns) for condition in _CONDITION.findall(rule))

    def meets_bounds(self, rule: str) -> bool:
        """Return whether the user gives a number on the right side of each bound in a rule's conditions."""
        return all(is_met(condition, self.turns) for condition in conditions_of(rule))

    def is_forbidden(self, tool: str) -> bool:
        """Return whether a rule that holds here forbids a tool, and names no way in which it may be called."""
        return any(
            modality(rule) is Modality.FORBID
            and not _ALLOWS.search(rule)
            and tools_named(rule, (tool,))
            and self.calls_for(rule)
            for rule in self.rules
        )

    def is_misplaced(self, name: str, value: JsonValue) -> bool:
        """Return whether the user gives the value for another parameter, or names another option of this one."""
        return is_misplaced(name, value, self.turns, self._parameters) or self._is_another_option(name, value)

    def _is_another_option(self, name: str, value: JsonValue) -> bool:
        """Return whether a value is an option that the user does not name, and the user names exactly one other."""
        for parameter, options in self.meaning.options:
            if parameter == name and value in options:
                named = [one for one in options if stems(one) and stems(one) <= self.stems]
                return len(named) == 1 and value not in named
        return False

    def comes_from_misplaced(self, text: str) -> bool:
        """Return whether a text stands in results of calls with misplaced arguments alone, in half of the runs."""
        return bool(self.runs) and 2 * sum(self._only_misplaced(view, text) for view in self.runs) > len(
            self.runs
        )

    def _only_misplaced(self, view: View, text: str) -> bool:
        steps = [one for one in view.trace.tool_calls if text.casefold() in _written(one.output)]
        return bool(steps) and all(
            has_misplaced(step.arguments or {}, self.turns, self._parameters) for step in steps
        )

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return parameters_of(self.runs)

    @cached_property
    def usual_in_rules(self) -> frozenset[str]:
        """Return the stems that more than half of the rules have."""
        return shared_by_most(self.rules)

    @cached_property
    def tools(self) -> frozenset[str]:
        """Return the tools that the user, or a rule that holds here, speaks of, or whose results other calls take."""
        return frozenset(filter(self._fits, self.meaning.tool_names))

    def _fits(self, tool: str) -> bool:
        names = self.meaning.tool_names
        return self.speaks_of(tool) or any(
            usually_feeds(tool, other, self.runs) for other in names if other != tool
        )

    def speaks_of(self, tool: str) -> bool:
        """Return whether the user, or a rule that holds here, speaks of a tool; True where no user is known."""
        names = self.meaning.tool_names
        if not self.turns or tool not in names:
            return not self.turns
        if any(tools_named(rule, (tool,)) and self.calls_for(rule) for rule in self.rules):
            return True
        text = self.meaning.tool_texts[names.index(tool)]
        units = frozenset(stem(one.text) for one in words(text) if is_unit_word(one.text))
        return not (stems(text) - shared_by_most(self.meaning.tool_texts) - units).isdisjoint(self.stems)

    def is_asked_by_user(self, tool: str) -> bool:
        """Return whether the user says half of the words of a tool's name; True where nothing is known of the user."""
        name = stems(tool)
        return not self.turns or 2 * len(name & self.stems) >= len(name) > 0

    def is_given(self, text: str) -> bool:
        """Return whether a text stands in a document, or in half of the runs in the result of the last tool of `tools`.

        What earlier tools return serves the later calls. Where the agent has neither tools nor documents, its data are
        in its own code: a text with a name in it is taken to come from there.
        """
        folded = text.casefold()
        if not self.meaning.tool_names and not self.meaning.documents:
            return not self._names.isdisjoint(folded.split())
        if self._answers_from_documents and folded in self.meaning.documents:
            return True
        return 2 * sum(folded in result for result in self._last_results) >= max(1, len(self.runs))

    def is_returned_by(self, tools: frozenset[str], text: str) -> bool:
        """Return whether a text stands in the last result of these tools, in half of the runs; True without runs."""
        told = [last_result(view, tools, frozenset()) for view in self.runs]
        return 2 * sum(text.casefold() in result for result in told) >= len(self.runs)

    def is_datum(self, text: str) -> bool:
        """Return whether a given text is a value, a name, or a key term of which neither user nor tools speak.

        In a result that is a sentence, other words only tell what the tool has done, which may be put otherwise. The
        key terms of such a sentence are an answer to a question, and a user who asks for an act has asked no question.
        """
        if not self.is_given(text):
            return False
        if not self.meaning.tool_names or text.casefold() in self.meaning.documents:
            return True
        if any(_is_value(text, value) for view in self.runs for value in self._values(view)):
            return True
        told = self.stems | stems(" ".join(self.meaning.tool_names))
        return self.asks_a_question and is_key_term(text) and stems(text).isdisjoint(told)

    def _values(self, view: View) -> Iterator[str]:
        yield from texts_in(last_output(view, self.tools, self._question_stems))

    @cached_property
    def answers_in_fields(self) -> bool:
        """Return whether the answers usually are JSON: then their words are not the words of a text."""
        return bool(self.runs) and 2 * sum(bool(view.fields) for view in self.runs) > len(self.runs)

    @cached_property
    def _answers_from_documents(self) -> bool:
        """Return whether the change is one of documents, or nothing else can tell the agent what it answers."""
        changed = self.meaning.operator_class is OperatorClass.CONTEXT
        return changed or not any(view.tools for view in self.runs)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Return the words, in lower case, that are written with a capital letter within a sentence of an answer."""
        return frozenset(name.casefold() for view in self.runs for name in _NAME.findall(view.text))

    @cached_property
    def _last_results(self) -> tuple[str, ...]:
        return tuple(last_result(view, self.tools, self._question_stems) for view in self.runs)

    @cached_property
    def _question_stems(self) -> frozenset[str]:
        """Return the stems that tell what is asked for: of the user's questions, else of all that the user says."""
        said = " ".join(self._questions) or self.turns
        return stems(said) - stems(" ".join(self.meaning.tool_names))

    @cached_property
    def _questions(self) -> tuple[str, ...]:
        return tuple(one for one in _SENTENCE.split(self.turns) if one.rstrip().endswith("?"))

    @cached_property
    def asks_for_no_figure(self) -> bool:
        """Return whether the user only asks who or why."""
        return bool(self._questions) and all(map(_ASKS_WHO_OR_WHY.match, self._questions))

    def is_said(self, text: str) -> bool:
        """Return whether the user says a text."""
        return text.casefold() in self.turns.casefold()

    @cached_property
    def states_few_figures(self) -> bool:
        """Return whether the answers usually state so few figures that one of them may be what was asked for."""
        told = [len({text for text in view.figures.values() if not self.is_said(text)}) for view in self.runs]
        return not told or median(told) <= FEW_FIGURES

    @cached_property
    def is_answered_shortly(self) -> bool:
        """Return whether the answers are usually so short that what they say is what was asked for."""
        return not self.runs or median([view.words for view in self.runs]) <= SHORT


def conditions_of(rule: str) -> list[str]:
    """Return the conditions of a rule, without the words that begin them.

    >>> conditions_of("If a card is lost, block it."), conditions_of("Lost cards: block the card.")
    ([' a card is lost'], ['Lost cards'])
    """
    return [*_CONDITION.findall(rule), *_topics(rule), *_OPENING.findall(rule)]


def _topics(rule: str) -> list[str]:
    """Return the topic that a rule begins with, such as `Lost cards:`; none where the words name the kind of rule.

    >>> _topics("Lost cards: block the card."), _topics("Tone: be friendly."), _topics("Block a lost card.")
    (['Lost cards'], [], [])
    """
    begins = _TOPIC.match(rule)
    return [begins[1]] if begins and stems(begins[1]).isdisjoint(_kinds_of_rule()) else []


@lru_cache(maxsize=1)
def _kinds_of_rule() -> frozenset[str]:
    return stems(shipped("agentmut.insight", "function_words")["kinds_of_rule"])


def shared_by_most(texts: Iterable[str]) -> frozenset[str]:
    """Return the stems that more than half of these texts have; none for a few texts.

    >>> sorted(shared_by_most(["Track an order.", "Cancel an order.", "Pay an order.", "Say hello."]))
    ['order']
    """
    several = list(texts)
    if len(several) < FEW:
        return frozenset()
    found = Counter(one for text in several for one in stems(text))
    return frozenset(one for one, times in found.items() if 2 * times > len(several))


def last_result(view: View, tools: Container[str], asked: frozenset[str]) -> str:
    """Return the result of the last call of one of these tools in a run, in lower case; empty without such a call.

    Where `asked`, the stems of a request, name fields of the result, only these fields are returned; of a result in
    sentences, those that share a stem with them, if any does.
    """
    output = last_output(view, tools, asked)
    if isinstance(output, str):
        output = _on_what_is_asked(output, asked)
    return _written(output)


def _written(output: object) -> str:
    return json.dumps(output, ensure_ascii=False, default=str).casefold() if output is not None else ""


def _on_what_is_asked(result: str, asked: frozenset[str]) -> str:
    told = [one for one in _SENTENCE.split(result) if not stems(one).isdisjoint(asked)]
    return " ".join(told) or result


def last_output(view: View, tools: Container[str], asked: frozenset[str]) -> object:
    """Return the result of `last_result` as it is; None without such a call."""
    called = [step for step in view.trace.steps if step.action is Action.CALL_TOOL and step.tool in tools]
    output = called[-1].output if called else None
    fields = [output[key] for key in output if stems(key) & asked] if isinstance(output, dict) else []
    return fields or output


def _is_value(text: str, value: str) -> bool:
    """Return whether a text is a value that is no prose, or a name in prose, by its capital letters.

    >>> _is_value("in transit", "In transit"), _is_value("paid in full", "Your invoice was paid in full today.")
    (True, False)
    >>> _is_value("ada lovelace", "The visit is with Ada Lovelace at noon.")
    True
    """
    folded, at = text.casefold(), value.casefold().find(text.casefold())
    if not is_prose(value):
        return folded == value.casefold().strip(" .")
    written = [word for word in value[at : at + len(text)].split() if word.casefold() not in STOP_WORDS]
    capital = bool(written) and all(word[:1].isupper() for word in written)
    return at >= 0 and capital and not set(_NAME.findall(value)).isdisjoint(written)


def usually_feeds(first: str, second: str, runs: Sequence[View]) -> bool:
    """Return whether in most runs an argument of `second` comes from an earlier result of `first` alone."""
    return bool(runs) and 2 * sum(_feeds(first, second, view) for view in runs) > len(runs)


def _feeds(first: str, second: str, view: View) -> bool:
    if first not in view.counts or second not in view.counts:
        return False
    results: list[str] = []
    known: set[str] = set()
    for step in view.trace.steps:
        if step.action is not Action.CALL_TOOL:
            continue
        given = {text for text in texts_in(step.arguments) if len(text) > 2}
        if step.tool == second and any(text in result for text in given - known for result in results):
            return True
        known |= given
        if step.tool == first:
            results.append(json.dumps(step.output, ensure_ascii=False, default=str))
    return False


def texts_in(value: object) -> Iterator[str]:
    """Yield all texts and numbers of a JSON value, as texts."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (str(key), *texts_in(each))
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, str | int | float):
        yield str(value)
