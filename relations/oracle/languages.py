"""Which language a text is in, as far as its commonest words tell."""

from collections import Counter

from agentmut.language import words

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
    """The language whose commonest words a text has most of; None where it has few, or no clear most.

    >>> language_of("Die Rückgabe ist für Sie nicht möglich."), language_of("ORD-1042")
    ('German', None)
    """
    counted = Counter(word.text.lower() for word in words(text))
    hits = {language: sum(counted[word] for word in common) for language, common in _WORDS.items()}
    (best, most), (_, second) = Counter(hits).most_common(2)
    return best if most >= _FEWEST and most >= 1.5 * second else None
