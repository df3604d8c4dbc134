"""Candidates from what an answer decides."""

from collections.abc import Iterator
from functools import partial

from agentmut.insight.explain.candidates import Candidate, Contrast, candidate
from agentmut.insight.explain.views import View
from agentmut.language import NO, YES

_SAYS = {
    YES: "the answer grants what is asked, or affirms it",
    NO: "the answer refuses what is asked, or denies it",
}


def of_facts(contrast: Contrast) -> Iterator[Candidate]:
    """`decides`: the one decision that the original usually takes, in whatever words."""
    for decision, says in _SAYS.items():
        holds = partial(_decides, decision)
        if contrast.usual(holds):
            yield candidate("decides", decision, says, 0.95, holds)


def _decides(decision: str, view: View) -> bool:
    return view.decisions == {decision}
