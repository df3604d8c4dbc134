"""The user's turns that are text: what in them may change, and what must stay as it is."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.language import (
    AMBIGUOUS_VERBS,
    BASE_VERBS,
    NUMBER_WORDS,
    STOP_WORDS,
    PromptDocument,
    Span,
    code_spans,
    facts,
    merged,
    overlaps,
    parse,
    quoted,
    reads_as_english,
    sentence_spans,
    stems,
    word_set,
    words,
)
from agentmut.nouns import AgentConfig, Scenario

_TOKEN_WITH_DIGIT = re.compile(r"(?<![^\s,;()])[^\s,;()]*\d[^\s;()]*(?<![.,!?:])")
_CAPITALISED = re.compile(r"(?<![\w-])[A-Z][\w’'-]*")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(sorted(NUMBER_WORDS))}|dozen|half|twice|once|million)\b", re.I)
_BINDING = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|only|except|unless|until|before|after|if|but|instead"
    r"|\w+n['’]t)\b",
    re.I,
)
_FIRST_PERSON = re.compile(r"I(?:['’](?:m|d|ll|ve))?")
_OPENERS = word_set(shipped("agentmut.relations", "word_lists")["words_that_open_a_sentence"])
_KNOWN = STOP_WORDS | BASE_VERBS | _OPENERS
"""Words that are no names where they begin a sentence."""
_MATERIAL = re.compile(
    r"\b(?:translat|proofread|spell|typos?\b|grammar|rewrit|reword|rephras|paraphras|transcri|capitali[sz]"
    r"|upper ?case|lower ?case|repeat after|echo|verbatim|word for word|punctuat|anagram|rhym"
    r"|(?:count|number of|how many|first|last|each|every|which) (?:the )?(?:words?|letters?|characters?|sentences?)\b"
    r"|this (?:text|sentence|word|phrase|paragraph|passage|poem|essay)\b"
    r"|the (?:following|above) (?:text|sentence|words?|phrase|paragraph|passage|e-?mail|message)\b"
    r"|summari[sz]e|sentiment|classify|language)",
    re.I,
)
_CODE = re.compile(
    r"\A\s*(?:[{\[<]|#!)|^[ \t]*+(?:import \w[\w., ]*$|from \w[\w.]* import |(?:async )?def \w+\(|class \w+[(:]"
    r"|function \w*\(|(?:const|let|var) \w+ ?=|[\w.]+ ?[-+*/]?= ?\S+;?$|[\w.]+\([^\n]*\);?$|[^\n]*[;{}]$)",
    re.M,
)
"""How texts begin that programs read, and lines that are a statement: an import, a definition, a call alone."""
_SQL = re.compile(
    r"\b(?:SELECT\b.{1,200}?\bFROM|INSERT INTO|DELETE FROM|UPDATE \S+ SET|(?:CREATE|ALTER|DROP) (?:TABLE|VIEW|INDEX))\b"
    r"|\A\s*select\b.{1,200}?\bfrom\b.{1,200}?\b(?:where|order by|group by|limit)\b",
    re.S,
)
_CLAUSE = re.compile(r"[,;:]|\b(?:if|that|which|who|whose|when|because|since|unless)\b", re.I)
_FINITE = word_set("is are was were has had does did can cannot will would should must could of never not")
_LONGEST = 4_000
_STOP_SHARE = 0.3


class Change(NamedTuple):
    """Other text for the characters `start` to `end` of a turn."""

    start: int
    end: int
    text: str
    what: str
    """What it does, in a phrase."""
    same: tuple[tuple[str, str], ...] = ()
    """Values before and after that mean the same."""


class Turn(NamedTuple):
    """A turn of English prose."""

    number: int
    """Its place in the scenario, from 0 on."""
    text: str
    document: PromptDocument
    """The text, read as instructions are."""
    fixed: tuple[Span, ...]
    """Sorted and disjoint: names, identifiers, figures, negations, quotes and whatever else must survive."""
    names: tuple[str, ...]

    def may_change(self, start: int, end: int) -> bool:
        """Return whether none of the characters `start` to `end` is fixed."""
        return not overlaps(self.fixed, Span(start, end))

    def with_sentence(self, sentence: str, description: str) -> Change:
        """Return the change that adds a sentence at the end; a full stop comes before it where none is there."""
        end = len(self.text.rstrip())
        stop = "" if self.text[:end].endswith((".", "!", "?")) else "."
        return Change(end, end, f"{stop} {sentence}", description)

    @property
    def vocabulary(self) -> frozenset[str]:
        """Return stems of what tools, values and documents are called."""
        return stems(" ".join(self.names).replace("_", " "))

    @property
    def sentences(self) -> tuple[Span, ...]:
        """Return the sentences of the turn in order."""
        return sentence_spans(self.text, Span(0, len(self.text)), self.document.protected)


def turns_of(scenario: Scenario, config: AgentConfig) -> tuple[Turn, ...]:
    """Return the turns that can be reworded."""
    names = names_of(scenario, config)
    return tuple(
        read_turn(said, names, index)
        for index, said in enumerate(scenario.turns)
        if isinstance(said, str) and is_prose(said)
    )


def lack_of_turns(scenario: Scenario) -> str:
    """Return why no turn can be reworded, in a phrase; empty where one can."""
    said = [turn for turn in scenario.turns if isinstance(turn, str)]
    if not said:
        return "no turn is text"
    if any(is_prose(text) for text in said):
        return ""
    if all(map(_is_code, said)):
        return "no turn is prose: it is JSON, markup or code"
    if any(_MATERIAL.search(text) for text in said):
        return "the agent works on the wording of the text itself"
    return "no turn is English prose"


def is_prose(text: str) -> bool:
    """Return whether a text is English, of a length to be read, and neither code nor itself what the agent works on."""
    return (
        bool(text.strip())
        and len(text) <= _LONGEST
        and any(character.isalpha() for character in text)
        and not _is_code(text)
        and _is_english(text)
        and not _MATERIAL.search(text)
    )


def _is_code(text: str) -> bool:
    """Return whether a text is, or has outside of Markdown's marks for code, what a program reads: JSON,
    markup, SQL.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        plain = changed(text, (Change(*span, "", "") for span in code_spans(text)))
        return bool(_CODE.search(plain) or _SQL.search(plain))
    return True


def _is_english(text: str) -> bool:
    """Return whether a user's text is English: `reads_as_english` knows instructions, users also say I and please."""
    if reads_as_english(text):
        return True
    found = [word.text.lower() for word in words(text)]
    return text.isascii() and sum(word in STOP_WORDS for word in found) >= _STOP_SHARE * len(found)


def read_turn(text: str, names: tuple[str, ...] = (), number: int = 0) -> Turn:
    """Return a text with what must stay as it is."""
    document = parse(text, names)
    return Turn(number, text, document, merged(_fixed(text, document, names)), names)


def _fixed(text: str, document: PromptDocument, names: Iterable[str]) -> Iterator[Span]:
    yield from document.protected
    yield from (fact.span for fact in facts(text))
    for pattern in (_TOKEN_WITH_DIGIT, _NUMBER_WORD, _BINDING):
        yield from (Span(*match.span()) for match in pattern.finditer(text))
    starts = {span.start for span in sentence_spans(text, Span(0, len(text)), document.protected)}
    for match in _CAPITALISED.finditer(text):
        if not _is_plain(match.group(), match.start() in starts):
            yield Span(*match.span())
    for name in names:
        yield from (Span(*m.span()) for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I))


def _is_plain(word: str, begins: bool) -> bool:
    """Return whether a capitalised word is no name: it begins a sentence, and is known as a word."""
    if _FIRST_PERSON.fullmatch(word):
        return True
    known = word.lower().replace("’", "'") in _KNOWN
    return begins and known and (len(word) == 1 or not word.isupper())


def names_a_thing(text: str) -> bool:
    """Return whether the first word may name a thing and order nothing: "Order A-1042 is late", "Book 3 arrived"."""
    first, *following = [word.text.lower() for word in words(_CLAUSE.split(text, maxsplit=1)[0])[:8]] or [""]
    if first not in AMBIGUOUS_VERBS:
        return False
    numbered = re.match(
        r"\w+ [\w-]*\d[\w-]*\s+(?!(?:and|or|for|to|from|by|on|in|at|with|now|today)\b)\w", text
    )
    return numbered is not None or bool(_FINITE.intersection(following))


def names_of(scenario: Scenario, config: AgentConfig) -> tuple[str, ...]:
    """Return what tools, their parameters and the scenario's evaluators call by name, longest first."""
    found = {*config.tool_names, *scenario.tools, *(document.name for document in config.context)}
    for tool in config.tools:
        found.update(_enumerated(tool.parameters))
    for spec in scenario.evaluators:
        found.update(_strings(spec.argument))
    fit = {name.strip() for name in found if 1 < len(name.strip()) <= 60}
    return tuple(sorted(fit, key=lambda name: (-len(name), name)))


def _enumerated(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        listed = schema.get("enum")
        yield from (value for value in listed if isinstance(value, str)) if isinstance(listed, list) else ()
        for value in schema.values():
            yield from _enumerated(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _enumerated(value)


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def some_of(changes: Sequence[Change], most: int, rng: Random) -> tuple[Change, ...]:
    """Return at least one and at most `most` of the changes by chance, none overlapping another, in order."""
    wanted = rng.randint(1, max(1, min(most, len(changes))))
    chosen: list[Change] = []
    for change in rng.sample(list(changes), len(changes)):
        if len(chosen) < wanted and not any(_collide(change, other) for other in chosen):
            chosen.append(change)
    return tuple(sorted(chosen))


def _collide(change: Change, other: Change) -> bool:
    first, second = sorted((change, other))
    return second.start < first.end or first.start == second.start


def changed(text: str, changes: Iterable[Change]) -> str:
    """Return the text after changes that do not overlap."""
    for change in sorted(changes, reverse=True):
        text = f"{text[: change.start]}{change.text}{text[change.end :]}"
    return text


def with_turn(turns: tuple[JsonValue, ...], index: int, turn: JsonValue) -> tuple[JsonValue, ...]:
    """Return the turns with another one at `index`."""
    return (*turns[:index], turn, *turns[index + 1 :])


def lowered(text: str) -> str:
    """Return a text as it goes on in the middle of a sentence: a known first word loses its capital."""
    first = re.match(r"[\w’']+", text)
    if not first or _FIRST_PERSON.fullmatch(first.group()) or not _is_plain(first.group(), True):
        return text
    return text[0].lower() + text[1:]


def raised(text: str) -> str:
    """Return a text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def said(words: str) -> str:
    """Return words in the quotation marks of a description."""
    return quoted(words)
