"""Live progress of a campaign on stderr: a line that is redrawn on a terminal, one every few seconds elsewhere."""

import io
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from agentmut.campaign import CampaignState, dollars
from agentmut.nouns import Intent, Status
from agentmut.report import counted, render_offers
from agentmut.usecases import first_look, has_looked, time_left

REDRAW = 0.2
LOG = 10.0
TELLING = 1.2
"""Both times left are shown from this ratio of the longer to the shorter one on."""


class ProgressLine:
    """A progress line: called after every change, it is redrawn at most every few moments."""

    def __init__(self, stream: TextIO | None = None) -> None:
        # the stream of today: a caller may have put another in its place, and an agent's module None
        streams = filter(None, (stream, sys.stderr, sys.__stderr__))
        self._stream = stream = next(streams, None) or io.StringIO()
        self._live = stream.isatty()
        self._last = 0.0 if self._live else time.monotonic()
        self._width = 0
        self._noticed = set[str]()
        self._looked = False

    def __call__(self, state: CampaignState) -> None:
        """Show how far the campaign is; first what its budget is enough for, once that is known.

        Two statements tell it: one at the price of each scenario's first trial, and one after the baseline.
        """
        self._say_what_money_buys(state)
        for note in (state.remark, state.notice):
            if note and note not in self._noticed:
                self._noticed.add(note)
                self.close()
                self._stream.write(f"Note: {note}.\n")
        self.show(lambda: describe(state))

    def _say_what_money_buys(self, state: CampaignState) -> None:
        if self._looked or state.round > 0 or not has_looked(state):
            return
        self._looked = True
        self.close()
        money = state.money
        if money.usd and state.plan.budget.usd:
            runs = f"{money.trials} runs" if money.trials > 1 else "run"
            self._stream.write(
                f"A run costs about {dollars(money.usd / money.trials)}, by the first {runs}.\n"
            )
        self._stream.write(render_offers(first_look(state)))
        self._stream.flush()

    def show(self, describe: Callable[[], str]) -> None:
        """Show a line, unless the last one is too fresh."""
        now = time.monotonic()
        if now - self._last < (REDRAW if self._live else LOG):
            return
        self._last = now
        line = describe()
        if self._live:
            self._stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the line behind."""
        if self._live and self._width:
            self._stream.write("\n")
            self._stream.flush()


def describe(state: CampaignState) -> str:
    """Return phase, trials, money, time left and score so far in one line.

    The time left is that of the trials which are expected, as in the table of `agentmut plan`, at the pace so far.
    """
    spend = state.spend
    money = "cost unknown" if spend.unpriced else f"${spend.usd:.2f}"
    spent = f"{counted(spend.trials, 'trial')}, {money}, {clock(spend.seconds)}"
    if state.stage:
        return f"{state.stage} | {spent}"
    if not state.baseline_complete:
        done = sum(baseline.finished for baseline in state.baselines.values())
        wanted = sum(baseline.wanted for baseline in state.baselines.values())
        return f"{_round(state)}baseline {done}/{wanted} | {spent}"
    waiting = state.sample.waiting if state.sample else ()
    mutants = [m.id for m in state.contenders if m.intent is not Intent.CONTROL and m.id not in waiting]
    answered = sum(
        id in state.decided_free or (id in state.arms and state.arms[id].is_answered) for id in mutants
    )
    return f"{_round(state)}mutants {answered}/{len(mutants)} | {spent}{_left(state)} | {_score(state)}"


def _round(state: CampaignState) -> str:
    """Return the number of the round, as each round counts all mutants anew; empty in a campaign of one round."""
    rounds = len(state.plan.ladder)
    number = state.round + 1 + (not state.baseline_complete)
    return f"round {min(max(number, 1), rounds)} of {rounds}, " if rounds > 1 else ""


def _left(state: CampaignState) -> str:
    """Return the time left: survivors of this round have later rounds before them, which take most of the time."""
    left = time_left(state)
    if left is None or not left.whole:
        return ""
    here, whole = (clock(math.ceil(seconds)) for seconds in left)
    if left.whole < TELLING * left.this_round:
        return f", about {whole} left"
    return f", about {here} left in this round, {whole} with the finer rounds"


def _score(state: CampaignState) -> str:
    statuses = [
        found[0]
        for m in state.plan.mutants
        if m.intent is Intent.DEGRADE and not m.parts and (found := state.status(m.id))
    ]
    counts = Counter(statuses)
    killed = counts[Status.KILLED]
    decided = killed + counts[Status.SURVIVED] + counts[Status.NO_COVERAGE]
    return f"score so far {killed}/{decided}" if decided else "no mutant decided yet"


def clock(seconds: float) -> str:
    """Return minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
