"""One proposal: what it adds, what it kills, how short it can be, and what it should be judged by."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import digest_of
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Dimension
from agentmut.insight.generate.minimise import shrinking
from agentmut.insight.generate.observed import STEPS, holding, proposed_evaluators
from agentmut.insight.generate.proposal_material import whole
from agentmut.insight.generate.proposals import Proposal
from agentmut.insight.search.killing import Killing
from agentmut.insight.search.search_start import Start
from agentmut.insight.search.trial_bench import Bench, WantedRuns
from agentmut.language import stems
from agentmut.nouns import AgentTrace, EvaluatorSpec, Execution, Mutant, Rate, Reach, Scenario

STABLE = 0.5
"""The share of a proposal's runs that have to show what it adds."""
QUESTIONS = 6
"""Shorter inputs that are tried for one proposal."""
NAMED, LONGEST_NAME = 6, 60
"""Words and characters that a scenario is named by, before the digits that tell it from others."""
MUTANTS = 3
"""Mutants that one proposal is tried on."""
UNJUDGED = EvaluatorSpec(name=STEPS, argument=1_000_000)
"""Stands where evaluators are not known yet; what judges a run is no part of what identifies it."""


class TriedProposal(NamedTuple):
    """A proposal with its first runs."""

    proposal: Proposal
    scenario: Scenario
    runs: tuple[Execution, ...]


class KeptScenario(NamedTuple):
    """A scenario that is worth keeping, and why."""

    scenario: Scenario
    proposal: Proposal
    adds: tuple[str, ...]
    kills: tuple[str, ...]
    passes: Rate
    traces: tuple[AgentTrace, ...]
    made_up: tuple[str, ...]
    """Tools that it calls whose doubles are made up."""
    recorded: tuple[str, ...]
    """Tools that it calls whose doubles repeat what stored runs were answered."""
    trials: int


@dataclass
class Trying:
    """Looks at proposals one after the other; `covered` grows with what is kept."""

    start: Start
    bench: Bench
    killing: Killing
    covered: set[str]
    killed: set[str] = field(default_factory=set)
    keep: int = 0
    """Trials that shortening and killing leave for other proposals."""

    def scenario(self, proposal: Proposal, turns: tuple[JsonValue, ...] | None = None) -> Scenario:
        """Return the proposal as a scenario: documents, hooks and doubles of its base, stand-ins for all that may do
        harm.
        """
        turns = proposal.turns if turns is None else turns
        base = proposal.base
        tools = self.start.stand_ins.doubles_for(base)
        words = re.findall(r"[^\W_]+", proposal.about or base.name)
        named = "_".join(words[:NAMED]).lower()[:LONGEST_NAME]
        content = [list(turns), base.name, {name: double.model_dump() for name, double in tools.items()}]
        return base.model_copy(
            update={
                "name": f"{named}_{digest_of(content)[:6]}",
                "turns": turns,
                "evaluators": (UNJUDGED,),
                "tools": tools,
                "threshold": None,
                "compare": (),
            }
        )

    def glimpsed(self, tried: TriedProposal) -> tuple[str, ...]:
        """Return what a single run of a proposal shows that is not covered, though it may show by chance."""
        return self._gained(tried.scenario, tried.runs) if answered(tried.runs) else ()

    def may_kill(self, tried: TriedProposal) -> bool:
        """Return whether a run uses what a living mutant changes that the proposal is aimed at."""
        aimed = [
            m for m in self.start.alive if f"mutant {m.id}" in tried.proposal.aims and m.id not in self.killed
        ]
        return bool(noticeable(aimed, tried.scenario, answered(tried.runs), 1))

    def judged(self, tried: TriedProposal) -> KeptScenario | None:
        """Return the proposal made short and checked; None where it adds nothing."""
        asked = self.bench.trials_asked_for - len(tried.runs)
        gained = self._gained(tried.scenario, tried.runs)
        traces = answered(tried.runs)
        suspects = self._suspects(tried, gained, traces)
        if not traces or not (gained or suspects):
            return None
        tried = self._shortened(tried, gained, suspects)
        found = self._checked(tried, suspects, asked)
        if found is not None:
            self.covered.update(found.adds)
            self.killed.update(found.kills)
        return found

    def _gained(self, scenario: Scenario, runs: Sequence[Execution]) -> tuple[str, ...]:
        """Return new coverage items that enough of the runs show.

        A rule counts by what the agent says and calls: the words
        of the user's turn are taken from the rule itself.
        """
        shown: Counter[str] = Counter()
        context = replace(self.start.context, scenarios=())  # without them, nobody's turns are read
        for run in runs:
            traces = {scenario.name: (run.trace,)}
            seen = measure(traces, self.start.config, self.start.settings, context)
            shown.update(str(item) for item in seen.covered if item.dimension is not Dimension.STATE)
        return tuple(
            item for item, n in shown.items() if item not in self.covered and n >= STABLE * len(runs)
        )

    def _suspects(
        self, tried: TriedProposal, gained: Sequence[str], traces: Sequence[AgentTrace]
    ) -> tuple[Mutant, ...]:
        """Return the living mutants whose first runs fail where the original's pass."""
        aimed = any(aim.startswith("mutant ") for aim in tried.proposal.aims)
        alive = [mutant for mutant in self.start.alive if mutant.id not in self.killed]
        if not traces or not (gained or aimed):
            return ()
        wanted = [mutant for mutant in alive if f"mutant {mutant.id}" in tried.proposal.aims]
        near = (*wanted, *noticeable([m for m in alive if m not in wanted], tried.scenario, traces, MUTANTS))
        few = self._few
        while near and self.bench.plan.trials < self.bench.trials_asked_for + self.keep + few * len(
            near[:MUTANTS]
        ):
            near = near[: min(len(near), MUTANTS) - 1]
        return self.killing.suspects(self._guarded(tried.scenario, traces), near[:MUTANTS], few)

    def _shortened(
        self, tried: TriedProposal, gained: Sequence[str], suspects: Sequence[Mutant]
    ) -> TriedProposal:
        """Return the last turn with as few sentences and clauses as still do the same, in a bounded number of
        questions.
        """
        last = tried.scenario.turns[-1]
        if not isinstance(last, str):
            return tried
        questions = shrinking(last)
        answer: bool | None = None
        for _ in range(QUESTIONS):
            try:
                shorter = next(questions) if answer is None else questions.send(answer)
            except StopIteration:
                break
            scenario = self.scenario(tried.proposal, (*tried.scenario.turns[:-1], shorter))
            wanted = WantedRuns(scenario, None, 0, self._few)
            if not self.bench.affords([wanted], self.keep):
                break
            (runs,) = self.bench.run([wanted])
            answer = self._same(scenario, runs, gained, suspects)
            tried = tried._replace(scenario=scenario, runs=runs) if answer else tried
        return tried

    @property
    def _few(self) -> int:
        return math.ceil(self.bench.plan.repeats / 2)

    def _same(
        self,
        scenario: Scenario,
        runs: Sequence[Execution],
        gained: Sequence[str],
        suspects: Sequence[Mutant],
    ) -> bool:
        if len(runs) < self._few or not answered(runs):
            return False
        if not set(gained) <= set(self._gained(scenario, runs)):
            return False
        if not suspects:
            return True
        return bool(self.killing.suspects(self._guarded(scenario, answered(runs)), suspects[:1], self._few))

    def _guarded(self, scenario: Scenario, traces: Sequence[AgentTrace]) -> Scenario:
        """Return the scenario with the evaluators that these runs propose."""
        specs = proposed_evaluators(
            scenario, traces, self.start.config, self.start.least, self.killing.catalogue
        )
        return scenario.model_copy(update={"evaluators": specs})

    def _checked(self, tried: TriedProposal, suspects: Sequence[Mutant], asked: int) -> KeptScenario | None:
        """Return evaluators from the first runs, held against as many fresh ones; kills by the kill rule."""
        repeats = self.bench.plan.repeats
        first, fresh = self.bench.run(
            [
                WantedRuns(tried.scenario, None, 0, repeats),
                WantedRuns(tried.scenario, None, repeats, 2 * repeats),
            ]
        )
        traces, held_out = answered(first), answered(fresh)
        gained = self._gained(tried.scenario, (*first, *fresh))
        if not traces:
            return None
        first_guess = self._guarded(tried.scenario, traces).evaluators
        specs = holding(
            first_guess, tried.scenario, (*traces, *held_out), self.start.least, self.killing.catalogue
        )
        scenario = tried.scenario.model_copy(update={"evaluators": specs})
        kills = self.killing.killed(scenario, suspects, 2 * repeats)
        says_something = any(spec.name != STEPS for spec in specs)
        if not ((any(map(is_enough, gained)) and says_something) or kills):
            return None
        passed = self.killing.judged(scenario, (*first, *fresh))
        called = {tool for trace in (*traces, *held_out) for tool in trace.tools_called}
        return KeptScenario(
            scenario=scenario,
            proposal=tried.proposal,
            adds=gained,
            kills=kills,
            passes=Rate(held=sum(passed), of=len(passed)),
            traces=(*traces, *held_out),
            made_up=tuple(sorted(called & self.start.stand_ins.made_up)),
            recorded=tuple(sorted(called & self.start.stand_ins.replayed)),
            trials=self.bench.trials_asked_for - asked,
        )


def is_enough(item: str) -> bool:
    """Return whether a new item is worth a scenario by itself: an agent by chance nearly always has another path."""
    return not item.startswith(f"{Dimension.PATH.value} ")


def answered(runs: Sequence[Execution]) -> tuple[AgentTrace, ...]:
    """Return the traces of runs that came to an answer."""
    return tuple(run.trace for run in runs if run.ending.outcome is None)


RELEVANT = 0.5
"""The share of a mutated text's content words that input and runs have to share."""


def noticeable(
    mutants: Sequence[Mutant], scenario: Scenario, traces: Sequence[AgentTrace], most: int
) -> tuple[Mutant, ...]:
    """Return at most so many mutants whose changed part these runs use, those with the most words in common first.

    The order of `mutants` decides among equals.
    """
    weighed = [(-_relevance(mutant, scenario, traces), place) for place, mutant in enumerate(mutants)]
    return tuple(mutants[place] for weight, place in sorted(weighed)[:most] if weight < 0)


def _relevance(mutant: Mutant, scenario: Scenario, traces: Sequence[AgentTrace]) -> float:
    """Return the relevance of a mutant to these runs, from 0 (cannot show) to 1."""
    subject = mutant.subject
    if mutant.reach is Reach.CALLED:
        return _share(traces, lambda trace: subject in trace.tools_called)
    if mutant.reach is Reach.REPEATED:
        return _share(traces, lambda trace: trace.tools_called.count(subject) > 1)
    if mutant.reach is Reach.RAN:
        return _share(
            traces, lambda trace: any(step.node and subject in ("", step.node) for step in trace.steps)
        )
    if mutant.reach is Reach.CONVERSED and len(scenario.turns) < 2:
        return 0.0
    overlap = _overlap(mutant, scenario, traces)
    return overlap if overlap >= RELEVANT else 0.0


def _share(traces: Sequence[AgentTrace], holds: Callable[[AgentTrace], bool]) -> float:
    share = sum(map(holds, traces)) / len(traces) if traces else 0.0
    return share if share >= RELEVANT else 0.0


def _overlap(mutant: Mutant, scenario: Scenario, traces: Sequence[AgentTrace]) -> float:
    edited = stems(" ".join(str(edit.before or edit.after) for edit in mutant.edits))
    shown = [
        whole(scenario.turns),
        *(trace.text for trace in traces),
        *(t for tr in traces for t in tr.tools_called),
    ]
    return len(edited & stems(" ".join(shown))) / len(edited) if edited else 0.0
