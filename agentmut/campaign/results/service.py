"""The state of the service, from the original's trials beside the mutants: in a result, and in words."""

import math
import time
from collections.abc import Iterable, Iterator

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.confirming import Confirmation as Confirming
from agentmut.campaign.decision.state import CampaignState
from agentmut.nouns import Confirmation, Drift, ServiceWatch, Status


def service_of(state: CampaignState) -> ServiceWatch | None:
    """Return the watch on the service; None if no trial of the original was run after the baseline."""
    service = state.service
    if not service.sentinels + service.confirming:
        return None
    return ServiceWatch(sentinels=service.sentinels, confirming=service.confirming, drift=_drift(state))


def confirmations_of(arm: Arm) -> tuple[Confirmation, ...]:
    """Return the kills of a mutant that were to be confirmed."""
    return tuple(
        _confirmation(confirming, held=confirming is arm.confirmed) for confirming in arm.confirmations
    )


def service_notes(watch: ServiceWatch | None) -> Iterator[str]:
    """Yield the sentences about a drift of the service: its time, its size, and its effect on the result."""
    drift = watch and watch.drift
    if not drift:
        return
    moved = "fell" if drift.change < 0 else "rose"
    yield (
        f"the service drifted: between {_clock(drift.since)} and {_clock(drift.until)} the pass rate of the original "
        f"{moved} by about {100 * abs(drift.change):.0f} points (p = {drift.p:.3f}). Every kill holds against trials "
        "of the original of the same time"
    )
    if drift.not_confirmed:
        who = _mutants(drift.not_confirmed)
        yield f"{who} had a kill that did not hold against these trials; that kill does not count"
    if drift.in_doubt:
        yield (
            f"the kill of {_mutants(drift.in_doubt)} is in doubt: by the original's trials on the other scenarios, the "
            "drift alone may explain it. `agentmut run --fresh` decides it against the service as it is now"
        )
    if drift.across:
        yield (
            f"{_mutants(drift.across)} had trials after the drift and is compared with the baseline before it. "
            "`agentmut run --fresh` compares it with the service as it is now"
        )


def _drift(state: CampaignState) -> Drift | None:
    found = state.drift()
    if found is None:
        return None
    arms = [state.arms[mutant.id] for mutant in state.plan.mutants if mutant.id in state.arms]
    later = [arm for arm in arms if state.ended_at.get(arm.mutant.id, math.inf) > found.since]
    original = state.service.original_since(found.since)
    return Drift(
        since=found.since,
        until=found.until,
        change=round(found.change, 6),
        p=round(found.p, 6),
        not_confirmed=_ids(arm for arm in arms if arm.refuted),
        across=_ids(arm for arm in later if arm.status is not Status.KILLED),
        in_doubt=_ids(arm for arm in later if arm.confirmed and not arm.confirmed.holds_amid(original)),
    )


def _ids(arms: Iterable[Arm]) -> tuple[str, ...]:
    return tuple(arm.mutant.id for arm in arms)


def _confirmation(found: Confirming, *, held: bool) -> Confirmation:
    f, n, g, c = (sum(beside[at] for _, beside in found.by_scenario) for at in range(2, 6))
    return Confirmation(
        scenarios=tuple(name for name, _ in found.by_scenario),
        trials=n,
        failures=f,
        original_trials=c,
        original_failures=g,
        log_evidence=round(found.log_evidence, 6),
        held=held,
    )


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds)) if seconds else "the start"


def _mutants(ids: tuple[str, ...]) -> str:
    return f"mutant {ids[0]}" if len(ids) == 1 else f"each of {len(ids)} mutants"
