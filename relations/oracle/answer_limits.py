"""The demands of a request on the form of its answer: length, words to use or to avoid, language."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.judging import shown
from agentmut.language import NUMBER, Span, sentence_spans, stem, value_of, words
from agentmut.relations.oracle.demand_wording import is_asked_about, is_reported

_COMMON = {
    "English": "the of and to is in that you for it with are on be this have your we not can will as or from at our",
    "German": "der die das und ist nicht ein eine zu den mit für auf sie ich im von es wir ihre ihr dem sich auch wird",
    "French": "le la les de des est et un une vous que pour pas dans sur nous votre avec ce il du au être qui sont",
    "Spanish": "el la los las de que es y en un una por con para no su se del al lo como más está usted le",
    "Italian": "il la di che è e un una per non con del sono lo gli le si della nel alla da ha suo questo più",
    "Portuguese": "o os as de que é e em um uma para não com do da no na seu sua por se mais dos como você",
    "Dutch": "de het een en van is niet dat je op te in voor met zijn er aan u wij uw ook kan worden bij wordt",
}
LANGUAGES = tuple(_COMMON)
"""Languages that can be told, by their English names."""
_WORDS = {language: frozenset(common.split()) for language, common in _COMMON.items()}
_FEWEST = 3
"""Common words that a text must have; with fewer nothing is said."""


def language_of(text: str) -> str | None:
    """Return the language that most of a text's common words belong to; None if that is unclear.

    >>> language_of("Die Rückgabe ist für Sie nicht möglich."), language_of("ORD-1042")
    ('German', None)
    """
    counted = Counter(word.text.lower() for word in words(text))
    hits = {language: sum(counted[word] for word in common) for language, common in _WORDS.items()}
    (best, most), (_, second) = Counter(hits).most_common(2)
    return best if most >= _FEWEST and most >= 1.5 * second else None


class Limits(NamedTuple):
    """Demands on an answer; None or empty means no demand."""

    max_words: int | None = None
    max_sentences: int | None = None
    max_characters: int | None = None
    forbidden: tuple[str, ...] = ()
    """Words or topics, found by the stems of their words."""
    required: tuple[str, ...] = ()
    """Phrases, to the letter but for upper and lower case."""
    language: str | None = None

    def faults(self, answer: str) -> Iterator[str]:
        """Yield the demands that an answer does not keep."""
        for most, count, noun in (
            (self.max_words, _words(answer), "words"),
            (self.max_sentences, len(sentence_spans(answer, Span(0, len(answer)), ())), "sentences"),
            (self.max_characters, len(answer.strip()), "characters"),
        ):
            if most is not None and count > most:
                yield f"the answer has {count} {noun}, at most {most} are allowed"
        kept_silent = _SENTENCE.sub(lambda said: " " if _SILENT.search(said[0]) else said[0], answer)
        yield from (
            f"the answer speaks of {topic!r}" for topic in self.forbidden if _speaks_of(kept_silent, topic)
        )
        missing = (phrase for phrase in self.required if phrase.casefold() not in answer.casefold())
        yield from (f"the answer lacks {phrase!r}: {shown(answer)}" for phrase in missing)
        spoken = language_of(answer) if self.language else None
        if spoken is not None and spoken != self.language:
            yield f"the answer is in {spoken}, not in {self.language}"

    def instruction(self) -> str:
        """Return the demands as sentences that a user may add to a request."""
        said = [
            f"Use at most {most} {noun}."
            for most, noun in (
                (self.max_words, "words"),
                (self.max_sentences, "sentences"),
                (self.max_characters, "characters"),
            )
            if most is not None
        ]
        said += [f'Do not mention "{topic}".' for topic in self.forbidden]
        said += [f'Include the phrase "{phrase}".' for phrase in self.required]
        return " ".join([*said, *([f"Answer in {self.language}."] if self.language else [])])


_COUNT = rf"(?P<count>\d{{1,5}}|(?i:{NUMBER}))"
_NOUN = r"(?P<noun>words?|sentences?|characters?)"
_LENGTHS = (
    re.compile(
        r"\b(?P<how>at most|no more than|not more than|maximum of|max\.?|up to|within|no longer than|not exceed|"
        rf"not exceeding|less than|fewer than|under|below)\s+(?:a\s+)?(?:total\s+of\s+)?{_COUNT}[\s-]+{_NOUN}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<how>in|with|use|using)\s+(?:only\s+|just\s+|exactly\s+)?{_COUNT}\s+(?:\w+\s+)?{_NOUN}\b"
        r"(?:\s+or\s+(?:less|fewer))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<how>){_COUNT}\s+{_NOUN}\s+(?:or\s+(?:less|fewer)|at\s+(?:the\s+)?most|max(?:imum)?)\b",
        re.IGNORECASE,
    ),
)
_LESS = re.compile(r"less than|fewer than|under|below", re.IGNORECASE)
_QUOTED = r"[\"“”'‘]([^\"“”'’\n]{1,80})[\"“”'’]"
_FORBIDS = re.compile(
    r"\b(?:(?:do not|don['’]t|never|must not|should not|please not)\s+(?:mention|talk about|discuss|refer to|"
    r"(?P<quoted>use|say|write|include))|without\s+(?:mentioning|talking about|referring to|"
    r"(?P<quoted_ing>using|saying))|avoid(?:ing)?\s+(?:mentioning|talking about|"
    r"(?P<quoted_avoid>using|saying|the words?)))\s+(?P<what>[^.!?;\n]{1,120})",
    re.IGNORECASE,
)
_REQUIRES = re.compile(
    r"(?<!not )(?<!n['’]t )(?<!never )\b(?:(?:include|use|mention|say|add|contain)\s++(?:exactly\s++)?(?:the\s++)?"
    r"(?:words?|phrase|sentence|text)|(?:end|begin|start|finish|close|sign off)\s++(?:\w+\s++){0,3}?with"
    rf"(?:\s++the\s++(?:words?|phrase|sentence))?)\s*+(?::\s*+)?{_QUOTED}",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    rf"\b(?:answer|reply|respond|write|explain|tell me|speak)\b[^.!?\n]{{0,40}}?\bin\s+"
    rf"(?P<which>{'|'.join(LANGUAGES)})\b",
    re.IGNORECASE,
)
_TO_SOMEBODY = re.compile(r"\b(?:write|speak|reply|respond|answer) to\b|\be-?mail|\bletter\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|without|avoid|don['’]t)\b[^.!?;:\n]{0,24}$", re.IGNORECASE)
_CIRCUMSTANCES = re.compile(
    r"\b(?:in|to|when|if|for|on|at|with|because|as|until|unless|but)\b", re.IGNORECASE
)
_LEADING = re.compile(
    r"^(?:the\s+words?|the\s+phrases?|words?\s+like|any|the|a|an|your|our|my)\s+", re.IGNORECASE
)
_PRONOUNS = frozenset(
    ["it", "this", "that", "them", "these", "those", "anything", "something", "me", "us", "him", "her"]
)
_SENTENCE = re.compile(r"[^.!?\n]+")
_SILENT = re.compile(
    r"\b(?:not|never|\w+n['’]t|without|avoid\w*|refrain\w*|leav\w+ out|omit\w*|skip\w*)\b.{0,30}?"
    r"\b(?:mention|talk|discuss|say|speak|includ|refer|bring|us[ei])|\bas (?:you )?(?:asked|requested|wished)\b",
    re.IGNORECASE,
)
"""A sentence that says of a topic that it will not be spoken of."""
_FOR_ANSWER = re.compile(
    r"\b(?:answer|reply|respond|explain|summari[sz]e|describe|tell|say|put|write|give|keep|list|compare|define|outline"
    r"|phrase|express|sum|recommend|advise|show|state)\b",
    re.IGNORECASE,
)
_CLAUSE_BEGINS = re.compile(r"(?:[.!?,;:(]|\b(?:and|but|please|then))$", re.IGNORECASE)
_SEEN_BEFORE = 400
"""Characters before a demand that may tell what it is of."""
_CLAUSE_ENDS = re.compile(
    r"\s*(?:$|[.!?,;:)\n]|(?:or (?:less|fewer)|and|but|please|max(?:imum)?|at most|in total|only)\b)",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:titles?|subject(?: line)?|headlines?|headings?|captions?|slogans?|names?|passwords?|tweets?|bio|fields?"
    r"|texts?|essays?|forms?|pins?|domains?|labels?|pages?)\b",
    re.IGNORECASE,
)
"""What may have so many words, while the answer has more."""
_LONGEST_TOPIC = 3
"""Words; a longer clause after "do not mention" is no topic that could be looked for."""


def stated_limits(request: str) -> Limits:
    """Return the demands that a request states.

    >>> stated_limits("Explain it in at most 20 words, and do not mention the price.")[:4]
    (20, None, None, ('price',))
    """
    lengths = dict(_lengths(request))
    return Limits(
        max_words=lengths.get("word"),
        max_sentences=lengths.get("sentence"),
        max_characters=lengths.get("character"),
        forbidden=tuple(dict.fromkeys(_forbidden(request))),
        required=tuple(dict.fromkeys(_required(request))),
        language=_language(request),
    )


def _required(request: str) -> Iterator[str]:
    found = _REQUIRES.finditer(request)
    return (match[1] for match in found if not is_reported(request, match.start()))


def _language(request: str) -> str | None:
    """Return the language of the answer; None if the request asks how to say something in a language."""
    match = _LANGUAGE.search(request)
    if not match or _DENIED.search(request[: match.start("which")]) or is_reported(request, match.start()):
        return None
    sentence = max(request.rfind(mark, 0, match.start()) for mark in ".!?\n") + 1
    asked = is_asked_about(request[sentence:], match.start("which") - sentence)
    return None if asked or _TO_SOMEBODY.search(match.group()) else match["which"].capitalize()


def given_limits(argument: JsonValue) -> Limits:
    """Return the demands of an argument. Raises `ValueError`."""
    given = arguments.mapping(argument, (), Limits._fields)
    if not given:
        raise ValueError(f"expects at least one of {', '.join(Limits._fields)}")
    language = given.get("language")
    if language is not None and language not in LANGUAGES:
        raise ValueError(f"language: expects one of {', '.join(LANGUAGES)}, got {language!r}")
    lengths = {name: _whole_sentence(given[name], name) for name in Limits._fields[:3] if name in given}
    return Limits(
        max_words=lengths.get("max_words"),
        max_sentences=lengths.get("max_sentences"),
        max_characters=lengths.get("max_characters"),
        forbidden=_phrases(given, "forbidden"),
        required=_phrases(given, "required"),
        language=str(language) if language is not None else None,
    )


def _phrases(options: dict[str, JsonValue], name: str) -> tuple[str, ...]:
    return arguments.texts(options[name], f"{name}: a text or a list of texts") if name in options else ()


def _whole_sentence(value: JsonValue, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name}: expects a whole number from 1 on, got {value!r}")
    return value


def _lengths(request: str) -> Iterator[tuple[str, int]]:
    """Yield nouns and their largest number, the last one first, so that the first demand wins."""
    found = [match for pattern in _LENGTHS for match in pattern.finditer(request)]
    for match in sorted(found, key=lambda match: match.start(), reverse=True):
        count = int(match["count"]) if match["count"].isdigit() else value_of(match["count"])
        if count is None or _is_told_of(request, match):
            continue
        yield match["noun"].lower().rstrip("s"), count - 1 if _LESS.fullmatch(match["how"]) else count


def _is_told_of(request: str, match: re.Match[str]) -> bool:
    """Return whether the words describe something other than the answer: "my essay has under 500 words"."""
    before = request[max(0, match.start() - 40) : match.start()]
    told = re.search(
        r"\b(?:has|had|have|is|was|were|be|been|contains?|wrote|written|about|at least|allows?|takes?|accepts?)\b"
        r"[^.!?]*$",
        before,
    )
    if told or is_reported(request, match.start()) or _PART.search(re.split(r"[.!?\n]", before)[-1]):
        return True
    return match["how"].lower() in ("in", "with", "use", "using") and not _is_manner(request, match)


def _is_manner(request: str, match: re.Match[str]) -> bool:
    """Return whether "with five words" tells how to answer, rather than what a thing is like."""
    seen = request[max(0, match.start() - _SEEN_BEFORE) : match.start()]
    before = re.split(r"[.!?\n]", seen)[-1]
    words = seen.rstrip()
    begins = (
        not words or "\n" in seen[len(words) :] or _CLAUSE_BEGINS.search(words, len(words) - 7) is not None
    )
    ends = _CLAUSE_ENDS.match(request, match.end()) is not None
    return (begins or _FOR_ANSWER.search(before) is not None) and ends


def _forbidden(request: str) -> Iterator[str]:
    for match in _FORBIDS.finditer(request):
        if is_reported(request, match.start()):
            continue
        quoted = re.findall(_QUOTED, match["what"])
        if quoted:
            yield from quoted
            continue
        # "do not use my card" is about a deed
        if match["quoted"] or match["quoted_ing"] or match["quoted_avoid"]:
            continue
        topics = _CIRCUMSTANCES.split(match["what"])[0]
        for part in re.split(r",|\bor\b|\band\b", topics)[:3]:
            topic = _LEADING.sub("", _LEADING.sub("", part.strip()))
            if topic and topic.lower() not in _PRONOUNS and len(words(topic)) <= _LONGEST_TOPIC:
                yield topic


def _speaks_of(answer: str, topic: str) -> bool:
    """Return whether the stems of the topic's words follow one another in the answer."""
    said, sought = [stem(word.text) for word in words(answer)], [stem(word.text) for word in words(topic)]
    if not sought:  # no words: a sign, such as an exclamation mark
        return topic in answer
    return any(said[i : i + len(sought)] == sought for i in range(len(said) - len(sought) + 1))


def _words(answer: str) -> int:
    """Return the number of words as word processors count: "12.90", "well-known" and "it's" are one each."""
    return sum(any(sign.isalnum() for sign in part) for part in re.split(r"[\s–—]+", answer))
