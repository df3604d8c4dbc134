"""How often a survivor that lost a sentence, or gained one, is said to have changed; and one that did neither."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import Generator

from agentmut.insight.explain.behaviour import ComparedRuns, TraceTest
from agentmut.insight.fingerprint import Fingerprint, fingerprint
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SEED = 23
ORIGINAL, MUTANT = 50, 11
SENTENCE = "I am sorry for the trouble this has caused."
ANSWER: Sequence[tuple[float, Sequence[str]]] = (
    (0.95, ("Order A-1042 was delivered on 3 May.", "The parcel for A-1042 arrived on 3 May 2026.")),
    (
        0.8,
        (
            "A refund of 89.90 EUR will reach you within five working days.",
            "We have refunded 89.90 EUR; it arrives within five working days.",
            "The refund (89.90 EUR) takes up to five working days.",
        ),
    ),
    (0.5, ("You can return the tent within 30 days.", "Returns are free within 30 days of delivery.")),
    (0.3, ("Please keep the receipt.", "Have the receipt at hand.", "The receipt will be asked for.")),
    (0.7, ("Is there anything else I can do for you?", "Let me know if you need anything else.")),
    (0.4, ("Thank you for your patience.", "Thanks for waiting.", "We appreciate your patience.")),
    (0.2, ("If the tent is damaged, send us a photo.", "Please attach a picture of the broken pole.")),
    (0.15, ("Our desk is open from 9 to 17.", "You reach us on weekdays from 9 to 17.")),
)
"""Sentences of an answer: the chance that one is said, and the wordings that it has."""


def run(rng: Generator, says: float, checks: float = 0.5) -> Fingerprint:
    """Return a run that says `SENTENCE` with chance `says`, and calls a second tool with chance `checks`."""
    said = [SENTENCE] if rng.random() < says else []
    said += [
        wordings[int(rng.integers(len(wordings)))] for chance, wordings in ANSWER if rng.random() < chance
    ]
    tools = ["look_up", *(["check_stock"] if rng.random() < checks else [])]
    steps = tuple(Step(action=Action.CALL_TOOL, tool=tool, arguments={"id": "A-1042"}) for tool in tools)
    answer = " ".join(said)
    return fingerprint(Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=steps, outputs=(answer,))))


def changed(original: float, mutant: float, repeat: int, scenarios: int = 1) -> bool | None:
    """Return what is said of one mutant: changed, unchanged, or neither.

    On its first scenario the original says the sentence with chance `original`, the mutant with chance `mutant`; on
    its others nothing differs.
    """
    rng = np.random.default_rng([SEED, repeat])
    names = [f"s{i}" for i in range(scenarios)]
    before = {name: [run(rng, original) for _ in range(ORIGINAL)] for name in names}
    says = [mutant, *[original] * (scenarios - 1)]
    blocks = [
        ComparedRuns(name, [run(rng, share) for _ in range(MUTANT)])
        for name, share in zip(names, says, strict=True)
    ]
    found = TraceTest(before, repeat).change("m", blocks)
    return found.changed if found else None


def section(*, thorough: bool) -> Section:
    """Return false alarms, and how often losses and gains are noticed."""
    mutants = 400 if thorough else 25
    how = (
        f"Simulated (seed {SEED}): {mutants} survivors for each figure, {ORIGINAL} runs of the original and {MUTANT} "
        "of the mutant on each scenario, at a family-wise .05 over the trace test, the exact tests and all scenarios. "
        "An answer has some four of nine sentences, each in two or three wordings."
    )
    return Section("Losses", how, tuple(_figures(mutants)))


def _figures(mutants: int) -> Iterator[Figure]:
    for share, scenarios in ((0.9, 1), (0.6, 1), (0.8, 3)):
        rate, error = simulated_rate(changed(share, share, i, scenarios) is True for i in range(mutants))
        what = f"nothing lost, said in {share:.0%} of runs, {scenarios} scenario{'s' * (scenarios > 1)}"
        yield Figure(what.replace("%", " %"), rate, "at most .05", high=0.05, error=error)
    for share, least in ((0.9, 0.95), (0.8, 0.9), (0.6, 0.7)):
        said = [changed(share, 0.0, i) for i in range(mutants)]
        rate, error = simulated_rate(one is True for one in said)
        what = f"noticed: said in {share:.0%} of runs, then in none of {MUTANT}".replace("%", " %")
        yield Figure(what, rate, f"at least {least:g}", low=least, error=error)
        rate, error = simulated_rate(one is False for one in said)
        yield Figure("  and called unchanged all the same", rate, "at most .05", high=0.05, error=error)
    rate, error = simulated_rate(changed(0.0, 0.6, i) is True for i in range(mutants))
    yield Figure(
        f"noticed: said in none, then in 60 % of {MUTANT}", rate, "at least 0.8", low=0.8, error=error
    )
