"""Candidates from the end of a run: it ends with an answer, and does not ask back."""

from collections.abc import Iterator

from agentmut.insight.explain.candidates import Candidate, Contrast, candidate
from agentmut.insight.explain.views import View

ANSWERED = "text.strip() != ''"
NO_QUESTION = "not text.rstrip().endswith('?')"
WHOLE = "text.rstrip().endswith(('.', '!', '?', '…'))"
ENDINGS = (ANSWERED, NO_QUESTION, WHOLE)
"""Expressions on how a run ends; they speak of no bound, unlike the other proposed expressions."""


def of_endings(contrast: Contrast) -> Iterator[Candidate]:
    """Yield that a run ends with an answer, which is a whole sentence and no question.

    A whole sentence says little by itself: it counts where the change may cut answers off.
    """
    if contrast.usual(_answers):
        yield candidate("expression", ANSWERED, "the run ends with an answer", 0.97, _answers)
        if contrast.usual(_is_whole):
            yield candidate("expression", WHOLE, "the answer ends with a whole sentence", 0.3, _is_whole)
        if contrast.usual(_states):
            says = "the answer does not end with a question"
            yield candidate("expression", NO_QUESTION, says, 0.7, _states)


def _answers(view: View) -> bool:
    return bool(view.text.strip())


def _states(view: View) -> bool:
    return not view.text.rstrip().endswith("?")


def _is_whole(view: View) -> bool:
    return view.text.rstrip().endswith((".", "!", "?", "…"))
