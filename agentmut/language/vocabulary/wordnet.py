"""Synonyms from WordNet, if nltk's copy is installed: an optional source next to the lexicon."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from agentmut._base import UsageError
from agentmut.language.prompt.document import Instruction, PromptDocument
from agentmut.language.vocabulary.inflection import ending_of, inflected
from agentmut.language.vocabulary.lexicon import in_place_of, load_lexicon
from agentmut.language.vocabulary.neighbours import DETERMINERS, is_number, word_set
from agentmut.language.vocabulary.orders import order_at
from agentmut.language.vocabulary.synonyms import Replacement, is_of_a_name
from agentmut.language.vocabulary.uses import neighbours, reads_as_english
from agentmut.language.vocabulary.words import STOP_WORDS

Part = Literal["n", "v", "a", "r"]
_PARTS: tuple[Part, ...] = ("n", "v", "a", "r")
_BEFORE_VERBS = word_set(
    "to must should may can will shall not never always please you they we cannot don't then"
)
_AFTER_NOUNS = word_set("of for in on at is are was were must should may can will has have to and or")
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class WordNet:
    """The corpus, asked for single words that mean the same in the most frequent sense."""

    reader: Any
    irregular: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Irregular forms, by part of speech and base form."""

    def synonym(self, word: str, part: Part | None) -> str | None:
        """Return a synonym for a word in lower case, in the same inflection; None if none is certain.

        `part` is the part of speech it is used as; None where the use does not tell, and then the word has to
        be of one part of speech only. Both words must have that sense as their most frequent one.
        """
        part = part or self._only_part(word)
        base = self.reader.morphy(word, part) if part else None
        ending = ending_of(word, base) if base else None
        if not part or not base or ending is None or (ending and part in "ar"):
            return None
        said = (
            inflected(name, ending, self.irregular[part].get(name, ())) for name in self._alike(base, part)
        )
        return next((text for text in said if text and text != word), None)

    def _only_part(self, word: str) -> Part | None:
        parts = [part for part in _PARTS if self.reader.synsets(word, part)]
        return parts[0] if len(parts) == 1 else None

    def _alike(self, base: str, part: Part) -> Iterator[str]:
        senses = self.reader.synsets(base, part)
        if not senses:
            return
        lemmas = senses[0].lemmas()
        contrary = {other.name() for lemma in lemmas for other in lemma.antonyms()}
        for name in (lemma.name() for lemma in lemmas):
            is_plain = name.isalpha() and name.islower() and name not in contrary and name != base
            if is_plain and self.reader.synsets(name, part)[:1] == senses[:1]:
                yield name


def wordnet_synonyms(
    document: PromptDocument, instruction: Instruction, tool_names: tuple[str, ...], source: WordNet
) -> Iterator[Replacement]:
    """Return the words of an instruction that WordNet has a synonym for, in order; none if it is not English.

    Left out are protected text, words of tool names, short words, and every word that the lexicon knows.
    """
    if not reads_as_english(instruction.text):
        return
    order = order_at(instruction.text)
    for word, previous, following in neighbours(instruction.text):
        start, end = instruction.start + word.start, instruction.start + word.end
        lower = word.text.lower()
        if _is_known(lower) or is_of_a_name(lower, tool_names) or document.protects(start, end):
            continue
        part: Part | None = "v" if order == word.start else _part(previous.lower(), following.lower())
        said = source.synonym(lower, part)
        if said and (text := in_place_of(word.text, said, previous)):
            yield Replacement(start, end, text)


def _is_known(word: str) -> bool:
    """Return whether not to ask for a word: it binds, counts or joins, or the lexicon has it."""
    plain = len(word) >= _SHORTEST and word.isalpha() and word not in STOP_WORDS and not is_number(word)
    return not plain or word in load_lexicon().entries


def _part(previous: str, following: str) -> Part | None:
    """Return the part of speech that the neighbours suggest."""
    if previous in _BEFORE_VERBS:
        return "v"
    return "n" if previous in DETERMINERS and (not following or following in _AFTER_NOUNS) else None


def load_wordnet() -> WordNet:
    """Return WordNet from where nltk finds its corpora. Never download. Raise `UsageError` if it is missing."""
    import nltk  # type: ignore[import-untyped]

    for place in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return _read(nltk.data.find(place))
        except LookupError:
            continue
    raise UsageError(
        "mutation.wordnet is true, but nltk's WordNet corpus is not installed. Install it with "
        "`python -m nltk.downloader wordnet`, or leave the setting out."
    )


@lru_cache(maxsize=1)
def _read(root: Any) -> WordNet:
    import warnings

    from nltk.corpus.reader.wordnet import WordNetCorpusReader  # type: ignore[import-untyped]

    class English(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:  # for other languages; takes seconds
            return None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says that other languages are not there
        reader = English(root, None)
    return WordNet(reader, {part: _irregular(reader, part) for part in _PARTS})


def _irregular(reader: Any, part: Part) -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for form, bases in reader._exception_map[part].items():
        for base in bases:
            result[base] = (*result.get(base, ()), form)
    return result
