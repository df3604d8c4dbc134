"""A request that is negated must have another effect, and a question that is negated another answer."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut.language import Span, sentence_spans, stem, stems, word_set, words
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Expectation,
    Family,
    FollowUp,
    Pair,
    Scenario,
    Source,
    ToolSpec,
)
from agentmut.relations.base import NoArgument
from agentmut.relations.composition.requests import accepts
from agentmut.relations.invariants import reworded
from agentmut.relations.turns import Change, Turn, lack_of_turns, lowered, said, turns_of
from agentmut.seams import RelationExample, answer, example

_ACTS = word_set(
    "refund cancel delete send renew book create close escalate pay transfer issue update change remove block unblock "
    "unlock lock reset activate deactivate subscribe unsubscribe exchange replace ship reserve schedule reschedule "
    "submit approve reject charge install publish upgrade downgrade add register extend archive forward invite "
    "order purchase buy sell post upload merge assign share enable disable terminate file report restart"
)
"""Verbs of requests that have an effect, so that not doing it shows."""
_VERBS = "|".join(sorted(_ACTS))
_ORDER = re.compile(rf"(?P<please>please,? )?(?P<verb>{_VERBS})(?= (?!to\b))", re.I)
_CAN_YOU = re.compile(
    rf"(?:can|could|would|will) you (?:please |kindly )?(?P<verb>{_VERBS})(?= (?!to\b))(?P<rest>[^?]*)\?",
    re.I,
)
_WISH = re.compile(
    r"(?P<who>I|We) (?P<wish>would like|want|need)"
    rf"(?= (?:you to (?:please )?|to |a |an |the |my |our )(?P<verb>{_VERBS})\b)"
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|without|cannot|nor|neither|unless|instead|but|because|since|due|as|only|any|some|all|every|each"
    r"|both|either|one|two|three|except|until|before|after)\b|n['’]t\b",
    re.I,
)
"""Words that a "not" before them may be meant for: not for that reason, not all of them."""
_PERMITTED = re.compile(
    r"(?P<which>(?:which|what)(?: [a-z]+){1,3}) (?P<can>can|may) (?P<rest>be [a-z]+(?:ed|n|t)\b[^?,;:]*\?)",
    re.I,
)
_KNOWS_NOTHING = re.compile(
    r"\bno (?:information|details|data|answer|idea)\b"
    r"|(?:\bnot|n['’]t) have (?:any |enough |the )?(?:information|details|data)\b"
    r"|(?:\bnot|n['’]t|\bcannot|\bunable to) (?:know|say|tell|find|answer)\b",
    re.I,
)
_PLEASE_LAST = re.compile(r",? please$", re.I)


class _Negation(NamedTuple):
    verb: str
    """Stem of what is asked for; empty for a question."""
    change: Change


class Negation(NoArgument):
    """A request is negated, and its tool must not be called. Or a question is negated, and its answer must differ.

    A request counts where its verb names a tool that the run called: one that was turned down anyway has nothing
    to lose. Questions are those for which things something is so ("Which goods can be returned?"). A run that
    does not know the answer may be followed by one that does not know it either: that counts neither way. Yes-no
    questions are left alone: "Can it not be returned?" asks the same as "Can it be returned?".
    """

    id: ClassVar[str] = "perturbation.negation"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.PERTURBATION
    expectation: ClassVar[Expectation] = Expectation.PREDICATE
    why: ClassVar[str] = "The agent does what it was told not to do: it reads topics, not requests."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no request can be negated, in a phrase; empty where one can."""
        if why := lack_of_turns(scenario):
            return why
        found = list(_negations(scenario, config))
        if not found:
            return "no turn has a request or a question that can be negated for sure"
        named = any(not one.verb or _tools(one.verb, config.tools) for _, one in found)
        return "" if named else "no tool is named after what is asked for, so its effect is not known"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return one request or question negated; None where the run did not do what was asked."""
        called = set(source.trace.tools_called)
        fitting = [
            (turn, one, sorted(called & _tools(one.verb, source.config.tools)))
            for turn, one in _negations(source.scenario, source.config)
        ]
        fitting = [one for one in fitting if one[2] or not one[1].verb]
        if not fitting:
            return None
        turn, negation, tools = source.rng.choice(fitting)
        follow = reworded(source.scenario, turn, [negation.change])
        expected: list[JsonValue] = [*tools]
        return follow.model_copy(update={"expected": {"not_called": expected}})

    def holds(self, pair: Pair) -> Check | None:
        """Return whether what must not be done was not done, or the answer differs; None where there was no answer."""
        listed = pair.follow_up.expected.get("not_called")
        forbidden = {str(tool) for tool in listed} if isinstance(listed, list) else set()
        if forbidden:
            done = sorted(forbidden & set(pair.trace.tools_called))
            what = f"{', '.join(done)} was called all the same" if done else "it was not done"
            passed = not done
        else:
            found = pair.comparison.differences(pair.scenario, pair.source, pair.trace)
            if not found and not _answers(_answer_text(pair.source), pair.scenario):
                return None
            passed, what = bool(found), "; ".join(found) or "the answer shows the same facts"
        return Check(evaluator=self.id, passed=passed, reason=f"{pair.follow_up.description}: {what}")

    def examples(self) -> Iterable[RelationExample]:
        """Yield a refund that is not asked for."""
        config = AgentConfig(tools=(ToolSpec(name="issue_refund"), ToolSpec(name="lookup_order")))
        order: dict[str, JsonValue] = {"order": "A-1007"}
        refunded = answer("A-1007 is refunded.", ("issue_refund", order))
        asked = "Please refund my order A-1007."
        yield example(
            asked, refunded, answer("All right, I leave it.", ("lookup_order", order)), True, config
        )
        yield example(asked, refunded, refunded, False, config)


def _answer_text(trace: AgentTrace) -> str:
    return "\n".join(str(output) for output in trace.outputs)


def _answers(text: str, scenario: Scenario) -> bool:
    """Return whether the answer says more than small talk and that it does not know."""
    if not _KNOWS_NOTHING.search(text):
        return True
    asked = frozenset().union(*(stems(str(turn)) for turn in scenario.turns))
    sentences = (text[span.start : span.end] for span in sentence_spans(text, Span(0, len(text)), ()))
    return any(asked & stems(one) for one in sentences if not _KNOWS_NOTHING.search(one))


def _tools(verb: str, tools: Iterable[ToolSpec]) -> set[str]:
    """Return tools whose name has the word: `issue_refund` for "refund". Without a word, none."""
    return {tool.name for tool in tools if verb and verb in {stem(word.text) for word in words(tool.name)}}


def _negations(scenario: Scenario, config: AgentConfig) -> Iterator[tuple[Turn, _Negation]]:
    """Yield every negation of a turn that surely reverses the scenario's request."""
    asked = [stem(word.text) for turn in scenario.turns for word in words(str(turn))]
    for turn in turns_of(scenario, config):
        later = scenario.turns[turn.number + 1 :]
        # Whoever asks back, and is told yes, does what the later turn wants.
        if any(not isinstance(said, str) or accepts(said) for said in later):
            continue
        for negation in _of_turn(turn):
            # Asked for elsewhere too, it would still be asked for.
            if not negation.verb or asked.count(negation.verb) == 1:
                yield turn, negation


def _of_turn(turn: Turn) -> Iterator[_Negation]:
    for start, end in turn.sentences:
        text = turn.text[start:end]
        asks_else = any("?" in turn.text[s:e] for s, e in turn.sentences if s != start)
        if asks_else or _NEGATED.search(text) or turn.document.protects(start, start + 1):
            continue
        for verb, length, new in _requests(text):
            change = Change(start, start + length, new, f"{said(new)} for {said(text[:length])}")
            yield _Negation(stem(verb), change)
        if len(turn.sentences) == 1:
            yield from (
                _Negation("", Change(start, end, new, "the question negated"))
                for new in _negated_question(text)
            )


def _requests(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the verb of a request, how much of the sentence changes, and into what."""
    if order := _ORDER.match(text):
        lead = "Please do not" if order["please"] else "Do not"
        yield order["verb"], order.end(), f"{lead} {lowered(order['verb']).lower()}"
    if can := _CAN_YOU.match(text):
        rest = _PLEASE_LAST.sub("", can["rest"])
        yield can["verb"], can.end(), f"Please do not {can['verb'].lower()}{rest}."
    if wish := _WISH.match(text):
        yield wish["verb"], wish.end(), f"{wish['who']} do not want"


def _negated_question(text: str) -> Iterator[str]:
    """Yield the negated question: "Which goods cannot be returned?" for "Which goods can be returned?"."""
    match = _PERMITTED.fullmatch(text)
    if match:
        can = match["can"].lower()
        yield f"{match['which']} {'cannot' if can == 'can' else f'{can} not'} {match['rest']}"
