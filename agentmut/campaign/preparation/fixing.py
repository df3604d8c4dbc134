"""When a project's evaluators were fixed: the store knows it, or notes it when a set appears for the first time."""

from collections import Counter
from collections.abc import Iterable, Sequence

from agentmut._base import digest_of
from agentmut.campaign.preparation.evaluator_age import Age
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.session import Session, suite_digest
from agentmut.campaign.trials import part_digest
from agentmut.nouns import EvaluatorSpec, Scenario
from agentmut.store import SERIES, FixedSet, Store, StoredRun

SPREAD = 1_000_000
"""So many series there are: two sets of one scenario share one with a chance of a millionth."""


def with_ages(session: Session, store: Store) -> Session:
    """Return the session with the age of each scenario's evaluators. A set that is new to the store is noted there."""
    seen = store.fixed.of_all({scenario.digest: scenario for scenario in session.scenarios})
    return session._replace(
        ages={
            scenario.name: _age(session, store, scenario, seen[scenario.digest])
            for scenario in session.scenarios
        }
    )


def note_proposed(store: Store, scenario: Scenario, specs: Iterable[EvaluatorSpec], run: str) -> None:
    """Store the evaluators that agentmut proposes for a scenario, to recognise them once a user writes them down."""
    store.fixed.propose(scenario.digest, [part_digest(spec) for spec in specs], run)


def _age(session: Session, store: Store, scenario: Scenario, known: tuple[FixedSet, ...]) -> Age:
    parts = session.tests.parts(scenario.name)
    evaluators = digest_of(parts)
    if not _holds(known, evaluators):
        # a scenario with the same digest may have noted it just now
        known = store.fixed.sets_on(scenario.digest)
    if not _holds(known, evaluators):
        store.fixed.note(_first_seen(session, store, scenario, parts, known))
        known = store.fixed.sets_on(scenario.digest)
    own = next(fixed for fixed in known if fixed.evaluators == evaluators)
    return Age(
        evaluators,
        own.originals,
        own.mutants,
        frozenset(fixed.evaluators for fixed in known if _is_younger(fixed, own)),
        bool(own.originals) and not store.fixed.oldest_run(scenario.name, own.originals, mutants=False),
    )


def _holds(known: Iterable[FixedSet], evaluators: str) -> bool:
    return any(fixed.evaluators == evaluators for fixed in known)


def _is_younger(other: FixedSet, own: FixedSet) -> bool:
    """Return whether all trials for a set are younger than another set; mutant trials may be older than their set."""
    return other.id > own.id and other.mutants in (other.originals, own.mutants)


def _first_seen(
    session: Session, store: Store, scenario: Scenario, parts: tuple[str, ...], known: Sequence[FixedSet]
) -> FixedSet:
    evaluators = digest_of(parts)
    first = FixedSet(scenario.digest, evaluators, parts, scenario.name, 0, 0)
    if not store.fixed.has_trials([scenario.name]):
        return first
    series = SERIES * (1 + int(evaluators[:12], 16) % SPREAD)
    if before := _planned_before(session, store):
        return _of_earlier_version(store, first, before, series)
    return first._replace(originals=series, mutants=_of_mutants(store, first, known, series))


def _of_mutants(store: Store, new: FixedSet, known: Sequence[FixedSet], series: int) -> int:
    """Return the first repeat of mutants that counts: an earlier set's where agentmut proposed every later addition.

    Who found such an evaluator has bounded the chance that it tells a mutant without effect from the original; an
    evaluator of a person may have been chosen by any run.
    """
    proposals = store.fixed.proposals(new.scenario)
    nothing = new._replace(parts=(), mutants=0)
    for fixed in (*reversed(known), nothing):
        added, missing = Counter(new.parts) - Counter(fixed.parts), Counter(fixed.parts) - Counter(new.parts)
        if not missing and set(added) <= proposals:
            return fixed.mutants
    return series


def _planned_before(session: Session, store: Store) -> list[tuple[StoredRun, Plan]]:
    """List the campaigns of this suite that an older version planned, which did not store when evaluators
    were fixed.
    """
    today = suite_digest(session)
    found = [(run, plan) for run in store.runs() if (plan := _plan(run))]
    return [(run, plan) for run, plan in found if plan.suite_digest == today and not plan.evaluators]


def _plan(run: StoredRun) -> Plan | None:
    try:
        return Plan.model_validate_json(run.plan)
    except ValueError:  # of another kind, or of another version
        return None


def _of_earlier_version(
    store: Store, first: FixedSet, before: Sequence[tuple[StoredRun, Plan]], series: int
) -> FixedSet:
    """Return the set with the repeats whose oldest trial a campaign with these evaluators has run itself."""
    runs = {"", *(run.id for run, _ in before)}
    begins = before[0][1].first.get(first.name, 0)
    originals = store.fixed.oldest_run(first.name, begins, mutants=False) in runs
    mutants = store.fixed.oldest_run(first.name, 0, mutants=True) in runs
    return first._replace(originals=begins if originals else series, mutants=0 if mutants else series)
