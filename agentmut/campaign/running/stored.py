"""Trials of earlier runs that still fit the project, for every command that works on stored traces."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agentmut._base import UsageError
from agentmut.campaign.preparation.identity import trial_key
from agentmut.campaign.preparation.plan import Plan, RunPlan
from agentmut.campaign.preparation.session import Session
from agentmut.nouns import Result, read_result
from agentmut.store import Store, StoredRun, StoredTrial, TrialHead, is_later

Kept = dict[str, tuple[StoredTrial, ...]]
"""By scenario, in the order of the repeats; of a trial that was repeated after trouble, the last one."""
Heads = dict[str, tuple[TrialHead, ...]]
"""The same trials, unread."""
Trial = TypeVar("Trial", StoredTrial, TrialHead)


@dataclass(frozen=True)
class StoredCampaign:
    """A finished or interrupted `run`, and its trials that still fit the project."""

    session: Session
    store: Store
    run: StoredRun
    plan: Plan
    original: Kept
    """The baseline."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Why trials of the original are left out -> how many."""
    later: Kept = field(default_factory=dict)
    """Trials of the original that were made beside the mutants'."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of anything that rests on these trials has to know."""
        left_out = [f"{count} stored trials left out: {why}" for why, count in sorted(self.skipped.items())]
        same_code = self.plan.environment.code == self.session.environment.code
        return (*left_out, *([] if same_code else [CODE_CHANGED.format(run=self.run.id)]))

    @property
    def has_result(self) -> bool:
        """Return whether the run has a `result.json`."""
        return self._result.exists()

    def result(self) -> Result:
        """Return the run's result. Raise `UsageError` if it has none yet."""
        return read_result(self._result)

    @property
    def _result(self) -> Path:
        return self.session.project.runs / self.run.id / "result.json"

    def trials_of_mutant(self, mutant: str) -> Kept:
        """Return the trials of a mutant on unchanged scenarios; the original's trials for an empty id."""
        if not mutant:
            return self.original
        return _part_of(self._of_mutant(mutant), later=False)

    def after_kill_of(self, mutant: str) -> Kept:
        """Return the runs of a mutant after its kill, on unchanged scenarios."""
        return _part_of(self._of_mutant(mutant), later=True)

    def _of_mutant(self, mutant: str) -> Kept:
        return last_trials(
            t for t in self.store.trials_of(self.run.id, mutant) if t.scenario in self.original
        )


MOST_READ = 1_000
"""Trials of a scenario that verbs read at most which look at all stored trials of the unchanged agent."""
WORDLESS = "stored without texts (store.texts at that time), and this command reads texts"
CODE_CHANGED = "the agent's code has changed since run {run}: its trials are of the earlier agent"


def stored_campaign(
    session: Session, store: Store, run: str | None = None, *, texts: bool = False
) -> StoredCampaign:
    """Return the campaign whose id begins with `run`, or the latest one. Raise `UsageError` where none fits.

    `texts`: leave out trials that were kept without texts (`store.texts`).
    """
    stored, plan = _chosen(store, run)
    heads, skipped = _fitting(session, plan, store.listing.heads(stored.id, ""))
    every = _read(store, heads, texts, skipped)
    original, later = _part_of(every, later=False), _part_of(every, later=True)
    _check_some(stored, original, skipped)
    return StoredCampaign(session, store, stored, plan, original, skipped, later)


def baseline_heads(session: Session, store: Store, run: str | None = None) -> tuple[Heads, Counter[str]]:
    """Return which trials `stored_campaign` has as the baseline, and what it leaves out, without reading them.

    Raises what `stored_campaign` raises.
    """
    stored, plan = _chosen(store, run)
    heads, skipped = _fitting(session, plan, store.listing.heads(stored.id, ""))
    original = _part_of(heads, later=False)
    _check_some(stored, original, skipped)
    return original, skipped


def _check_some(stored: StoredRun, original: Kept | Heads, skipped: Counter[str]) -> None:
    if not original:
        why = (
            "; ".join(f"{count} trials: {reason}" for reason, count in skipped.items()) or "it has no trials"
        )
        raise UsageError(f"nothing of run {stored.id} can be used. {why}. `agentmut run` makes new trials.")


def _part_of(kept: dict[str, tuple[Trial, ...]], *, later: bool) -> dict[str, tuple[Trial, ...]]:
    parts = {name: tuple(x for x in trials if is_later(x.repeat) is later) for name, trials in kept.items()}
    return {name: trials for name, trials in parts.items() if trials}


def stored_originals(
    session: Session, store: Store, *, texts: bool = False, most: int | None = None
) -> tuple[Kept, Counter[str]]:
    """Return the stored trials of the unchanged agent on the suite, of whatever run.

    With them: why trials are left out -> how many. `texts`: leave out trials that were kept without texts. `most` is
    that of `original_heads`.
    """
    heads, skipped = original_heads(session, store, most=most)
    return _read(store, heads, texts, skipped), skipped


def original_heads(session: Session, store: Store, *, most: int | None = None) -> tuple[Heads, Counter[str]]:
    """Return which trials `stored_originals` has, without reading them: `store.listing.some` reads them in turn.

    With `most`, of each scenario only the last so many trials are looked at, run by run, the latest first; so the
    work does not grow with the store.
    """
    heads: dict[int, TrialHead] = {}
    skipped: Counter[str] = Counter()
    for stored in store.runs():  # the latest first
        full = _full(heads.values(), most)
        if full >= set(session.tests.scenarios):
            break
        plan = plan_of(stored)
        trials = store.listing.heads(stored.id, "", most, full) if plan else []
        fitting, left_out = _fitting(session, plan, trials) if plan else ({}, {})
        heads |= {trial.id: trial for trials in fitting.values() for trial in trials}
        skipped.update(left_out)
    by_scenario: dict[str, list[TrialHead]] = {}
    for number in sorted(heads):
        by_scenario.setdefault(heads[number].scenario, []).append(heads[number])
    last = -most if most is not None else None
    return {name: tuple(trials[last:]) for name, trials in by_scenario.items()}, skipped


def _read(store: Store, heads: Heads, texts: bool, skipped: Counter[str]) -> Kept:
    """Read trials; with `texts`, leave out those that were kept without texts, and count them."""
    kept: dict[str, list[StoredTrial]] = {}
    for trial in store.listing.some(head.id for trials in heads.values() for head in trials):
        if texts and trial.execution.trace.texts:
            skipped[WORDLESS] += 1
        else:
            kept.setdefault(trial.scenario, []).append(trial)
    return {name: tuple(trials) for name, trials in kept.items()}


def _full(trials: Iterable[TrialHead], most: int | None) -> set[str]:
    """Return the scenarios of which no more trials are needed."""
    if most is None:
        return set()
    return {name for name, count in Counter(trial.scenario for trial in trials).items() if count >= most}


def _chosen(store: Store, run: str | None) -> tuple[StoredRun, Plan]:
    campaigns = [(stored, plan) for stored in store.runs() if (plan := _campaign_plan(stored))]
    matching = [campaign for campaign in campaigns if run is None or campaign[0].id.startswith(run)]
    if not matching:
        known = ", ".join(stored.id for stored, _ in campaigns)
        what = (
            f"run {run} is no stored campaign. Known: {known}." if known else "there is no stored campaign."
        )
        raise UsageError(f"{what} Run `agentmut run` first.")
    if run is not None and len(matching) > 1:
        raise UsageError(f"{len(matching)} runs begin with {run!r}: {', '.join(r.id for r, _ in matching)}.")
    return matching[0]


def _campaign_plan(stored: StoredRun) -> Plan | None:
    try:
        plan = Plan.model_validate_json(stored.plan)
    except ValidationError:  # of another kind, or of another version
        return None
    return plan if plan.kind == "run" else None


def plan_of(stored: StoredRun) -> RunPlan | None:
    """Return the plan's part that every kind of run has; None for a plan of another version."""
    try:
        written = json.loads(stored.plan)
        return RunPlan.model_validate(
            {name: written[name] for name in RunPlan.model_fields if name in written}
        )
    except (ValueError, TypeError):
        return None


def _fitting(session: Session, plan: RunPlan, trials: Iterable[TrialHead]) -> tuple[Heads, Counter[str]]:
    """Return the trials whose scenario and config are unchanged, and how many are left out for each reason."""
    skipped: Counter[str] = Counter()
    kept = []
    for trial in trials:
        if trial.scenario not in plan.scenarios:
            continue  # a follow-up run of a relation: it was never a run of the suite
        if reason := _misfit(session, plan, trial):
            skipped[reason] += 1
        else:
            kept.append(trial)
    return last_trials(kept), skipped


def _misfit(session: Session, plan: RunPlan, trial: TrialHead) -> str:
    scenario = session.tests.scenarios.get(trial.scenario)
    if scenario is None and plan.kind == "suggest":
        return "of scenarios that `agentmut suggest` tried, which are not in the suite"
    if scenario is None:
        chosen_from = {each.name for each in session.project.scenarios}
        return (
            "of scenarios that were not asked for"
            if trial.scenario in chosen_from
            else f"scenario {trial.scenario} is not in the suite"
        )
    if not trial.key:
        return "of an agent that could not run"
    config = session.suite.part(session.suite.full, trial.scenario).digest
    key = trial_key(
        plan.environment, plan.seed, config=config, mutant="", scenario=scenario.digest, repeat=trial.repeat
    )
    if key == trial.key:
        return ""
    if plan.config_digest == session.suite.full.digest:
        return f"scenario {trial.scenario} was another one"
    return "made with another version of the agent's config"


def last_trials(trials: Iterable[Trial]) -> dict[str, tuple[Trial, ...]]:
    """Group trials by scenario, in the order of repeats; of a trial repeated after trouble, keep the last."""
    latest: dict[tuple[str, int], Trial] = {}
    for trial in trials:
        latest[trial.scenario, trial.repeat] = trial
    by_scenario: dict[str, list[Trial]] = {}
    for (scenario, _), trial in sorted(latest.items(), key=lambda item: item[0]):
        by_scenario.setdefault(scenario, []).append(trial)
    return {name: tuple(ordered) for name, ordered in by_scenario.items()}
