"""The trials of the original agent: pass rates to compare with, and the parts that each scenario exercises."""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from agentmut.campaign.fresh_trials import FreshTrials
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import Footprint, RequestShape
from agentmut.stats import is_untestable
from agentmut.trial import Detector

OLD = 7 * 86_400
"""Seconds after which trials are called old: services drift, and kills then take more trials to confirm."""
FEW = 2
"""So many trials without a model request, among others with one, are no chance."""
HOPELESS = 5
"""Trials of a scenario, none of which passed, after which it is not expected to pass."""
SPARE = 0.2
"""Share of extra trials that may replace those that were no evidence."""


@dataclass
class ScenarioBaseline:
    """The baseline on one scenario."""

    wanted: int
    """Trials that are to be evidence, without those in `beside`."""
    launched: int = 0
    failures: int = 0
    """Trials that are evidence and did not pass."""
    trials: int = 0
    """Trials that are evidence."""
    beside: int = 0
    """Trials of the original that confirmed kills of earlier rounds, and that a finer round compares with, too."""
    failures_beside: int = 0
    """Failures among the trials that confirmed kills."""
    finished: int = 0
    """Trials that have ended, whether they are evidence or not."""
    first_failure: str = ""
    no_evidence: Counter[str] = field(default_factory=Counter)
    """Reasons of trials that are no evidence."""
    never_began: Counter[str] = field(default_factory=Counter)
    """Evidence trials that raised before they did anything, by the type of the exception."""
    fresh: FreshTrials = field(default_factory=FreshTrials)
    """What the trials that were run now show of an agent that cannot run."""
    tools: Counter[str] = field(default_factory=Counter)
    """Evidence trials that called each tool."""
    repeated: Counter[str] = field(default_factory=Counter)
    """Evidence trials that called each tool at least twice."""
    nodes: Counter[str] = field(default_factory=Counter)
    """Evidence trials that entered each node of the flow."""
    footprints: dict[str, Footprint] = field(default_factory=dict)
    asked: int = 0
    """Evidence trials that sent a model request, or read their config."""
    _positions: "array[int]" = field(default_factory=lambda: array("q"))
    """Where each evidence trial stands among the launches. Numbers packed, as a campaign has a million trials."""
    _seconds: "array[float]" = field(default_factory=lambda: array("d"))
    _passed: bytearray = field(default_factory=bytearray)
    setup_seconds: float = 0.0
    """Seconds that the setups of all evidence trials took together."""
    silent: int = 0
    """Trials that passed without a model request, and without reading their config."""

    def record(self, result: TrialResult, number: int) -> None:
        """Record one finished trial under its position among the launches."""
        self.finished += 1
        self.fresh.take_in(result)
        if not result.outcome.is_evidence:
            self.no_evidence[f"{result.ending}: {result.reason}"] += 1
            return
        self._positions.append(number)
        self._seconds.append(result.seconds)
        self._passed.append(result.outcome == "pass")
        self.setup_seconds += result.trace.setup_seconds
        self.trials += 1
        if result.never_began:
            self.never_began[result.never_began] += 1
        if result.tools:
            self.tools.update(result.tools.keys())
            self.repeated.update(name for name, calls in result.tools.items() if calls > 1)
        if result.footprint.nodes:
            self.nodes.update(result.footprint.nodes)
        asked = bool(result.footprint.requests or result.footprint.reads)
        self.asked += asked
        self.silent += not asked and result.outcome == "pass"
        seen = result.footprint.unordered()
        self.footprints.setdefault(seen.digest, seen)
        if result.outcome != "pass":
            self.failures += 1
            self.first_failure = self.first_failure or result.reason

    def take_in_beside(self, failed: bool) -> None:
        """Add a trial of the original that confirmed a kill: one trial less is wanted."""
        self.beside += 1
        self.failures_beside += failed
        self.wanted -= 1

    @property
    def counts(self) -> tuple[int, int]:
        """Return the failures and the trials that mutants are compared with."""
        return self.failures + self.failures_beside, self.trials + self.beside

    def in_order(self) -> tuple[tuple[bool, ...], tuple[float, ...]]:
        """Return whether each evidence trial passed, and its seconds, in the order of the launches."""
        order = sorted(range(len(self._positions)), key=self._positions.__getitem__)
        return tuple(bool(self._passed[i]) for i in order), tuple(self._seconds[i] for i in order)

    @property
    def wants_another(self) -> bool:
        """Return whether a further trial should be launched."""
        in_flight = self.launched - self.finished
        limit = self.wanted + max(3, round(SPARE * self.wanted))
        return self.trials + in_flight < self.wanted and self.launched < limit

    @property
    def complete(self) -> bool:
        """Return whether all wanted trials are there, or the budget allows no further trial."""
        return self.finished == self.launched and not self.wants_another

    @property
    def usable(self) -> bool:
        """Return whether there is enough evidence to compare with: at least half of what was wanted."""
        return 2 * self.trials >= self.wanted

    def shows(self, delta: float) -> bool:
        """Return whether the original passes often enough for a drop by `delta` to show."""
        return self.usable and not is_untestable(*self.counts, delta)

    @property
    def passes(self) -> int:
        """Return the number of trials that passed."""
        return self.trials - self.failures

    @property
    def never_passes(self) -> bool:
        """Return whether enough trials are evidence and all of them failed."""
        enough = self.trials >= HOPELESS or (self.complete and self.trials > 0)
        return enough and not self.passes

    @property
    def requests(self) -> Iterable[RequestShape]:
        """Return the requests of all trials that are evidence."""
        return (shape for seen in self.footprints.values() for shape in seen.requests)

    def carries(self, detector: Detector) -> bool:
        """Return whether some baseline trial carried the part that a mutant changes."""
        return any(detector.carried(seen) for seen in self.footprints.values())

    def holds_answer(self, workers: int) -> bool:
        """Return whether the agent seems to cache its answer: a few trials asked a model, and all others asked none.

        Never without workers that hold anything from one trial to the next.
        """
        return bool(workers and self.asked) and self.silent >= FEW and self.asked <= max(workers, self.silent)

    def share_calling(self, tool: str) -> float:
        """Return the share of the evidence trials that called a tool."""
        return self._share(self.tools[tool])

    def share_repeating(self, tool: str) -> float:
        """Return the share of the evidence trials that called a tool at least twice."""
        return self._share(self.repeated[tool])

    def share_entering(self, node: str) -> float:
        """Return the share of evidence trials that entered a node of the flow; for an empty name, the busiest node.

        Where no nodes are seen, an agent that reads its flow from the config may have entered every one.
        """
        if not self.nodes:
            return float(any("orchestration" in seen.reads for seen in self.footprints.values()))
        return self._share(self.nodes[node] if node else max(self.nodes.values()))

    def _share(self, trials: int) -> float:
        return trials / self.trials if self.trials else 0.0


def age_note(seconds: float, subject: str) -> str:
    """Return a warning about trials of the original that are `seconds` old; an empty text while they are fresh."""
    if seconds <= OLD:
        return ""
    days = round(seconds / 86_400)
    return (
        f"{subject} up to {days} days old: if the model service has drifted since, that shows as a change of the "
        "agent. `--fresh` runs everything again"
    )
