"""Candidates from the answer's text: phrases, forms, figures."""

import re
from collections.abc import Iterator
from functools import partial

from agentmut.insight.explain.candidates import Candidate, Contrast, candidate, common
from agentmut.insight.explain.shapes import OF_STYLE, SHAPES, SLIGHT, shape_of
from agentmut.insight.explain.views import View
from agentmut.language import NO, STOP_WORDS, YES, Figure, stated_figures

BEST_LENGTH = 3
"""Words of a phrase that says enough, and spells out no sentence."""
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def of_text(contrast: Contrast) -> Iterator[Candidate]:
    """Yield phrases that are present or absent, forms such as a list or a date, and stated figures."""
    yield from _phrases(contrast)
    yield from _forms(contrast)
    yield from _figures(contrast)


def _phrases(contrast: Contrast) -> Iterator[Candidate]:
    for phrase in common((v.phrases for v in contrast.original), contrast.least, len(contrast.original)):
        if weight := _weight(phrase):
            yield candidate(
                "contains", phrase, f"the answer has “{phrase}”", weight, partial(_contains, phrase)
            )
    for phrase in common((v.phrases for v in contrast.pool), 1.0, contrast.often):
        if weight := _weight(phrase):
            says = f"the answer does not have “{phrase}”"
            yield candidate("not_contains", phrase, says, weight - 0.1, partial(_lacks, phrase))


def _contains(phrase: str, view: View) -> bool:
    return phrase in view.folded


def _lacks(phrase: str, view: View) -> bool:
    return phrase not in view.folded


def _weight(phrase: str) -> float:
    """Return how general a phrase is; 0 for an empty one such as `of the`."""
    words = _WORDS.findall(phrase)
    content = [word for word in words if word not in STOP_WORDS and len(word) > 2 and not word.isdigit()]
    if not content:
        return 0.0
    return 0.5 - 0.02 * abs(len(words) - BEST_LENGTH)


def _forms(contrast: Contrast) -> Iterator[Candidate]:
    written = sorted(
        {
            text
            for view in contrast.original
            for figure, text in view.figures.items()
            if not contrast.usual(partial(_states, figure))  # else the figure itself is asked for
        }
    )
    own = [
        (f"something of the form {shape}", rf"\b{shape}\b") for text in written if (shape := shape_of(text))
    ]
    for name, pattern in dict.fromkeys((*SHAPES, *own)):
        found, generality = re.compile(pattern), _of_form(name)
        yield candidate("regex", pattern, f"the answer has {name}", generality, partial(_finds, found))
        none = re.compile(rf"\A(?![\s\S]*(?:{pattern}))")
        says = f"the answer does not have {name}"
        yield candidate("regex", none.pattern, says, generality - 0.05, partial(_finds, none))


def _finds(pattern: re.Pattern[str], view: View) -> bool:
    return pattern.search(view.text) is not None


def _of_form(name: str) -> float:
    return 0.2 if name in SLIGHT else 0.6 if name in OF_STYLE else 0.7


def _figures(contrast: Contrast) -> Iterator[Candidate]:
    written: dict[Figure, str] = {}
    for view in contrast.original:
        for figure, text in view.figures.items():
            written.setdefault(figure, text)
    for figure, text in written.items():
        # read alone, it is the same
        if figure in stated_figures(text) and contrast.usual(partial(_states, figure)):
            alone = text.isdecimal()  # a bare number says little of what it counts
            says = f"the answer states {text}"
            yield candidate("states", text, says, 0.55 if alone else 0.85, partial(_states, figure))


def _states(figure: Figure, view: View) -> bool:
    return figure in view.figures


_DECISIONS = {
    YES: "the answer grants what is asked, or affirms it",
    NO: "the answer refuses what is asked, or denies it",
}


def of_facts(contrast: Contrast) -> Iterator[Candidate]:
    """Yield `decides`: the decision that the original usually takes, in any words."""
    for decision, says in _DECISIONS.items():
        holds = partial(_decides, decision)
        if contrast.usual(holds):
            yield candidate("decides", decision, says, 0.95, holds)


def _decides(decision: str, view: View) -> bool:
    return view.decisions == {decision}
