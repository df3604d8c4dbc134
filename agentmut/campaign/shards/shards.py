"""The division of a campaign's mutants among runs, and the test that runs are shards of one campaign."""

import re
from collections.abc import Iterator, Mapping, Sequence

from agentmut._base import UsageError, digest_of
from agentmut.campaign.preparation.plan import Plan, Shard
from agentmut.nouns import Mutant

SHARED = (
    "Run the baseline once (`agentmut run --baseline-only`) and copy .agentmut to every shard before its run: then "
    "all of them compare with the same trials."
)
_FORM = re.compile(r"(\d+)/(\d+)")
_ALIKE: Mapping[str, str] = {
    "config_digest": "the agent's config",
    "suite_digest": "the suite",
    "environment": "the agent's code, packages or endpoint",
    "rule": "the kill rule",
    "seed": "the seed",
    "scenarios": "the scenarios",
    "baseline": "the size of the baseline",
    "first": "which runs of the original are younger than the evaluators",
    "first_of_mutants": "which runs of mutants may decide",
    "baseline_limit": "the budget that cuts the baseline",
    "window": "execution.window",
    "identity": "the identity control",
    "destroyed": "the destroyed control",
    "selective": "selective mutation",
}


def parse_shard(text: str) -> tuple[int, int]:
    """Return k and n of the `k/n` that the command line gives.

    >>> parse_shard("2/3")
    (2, 3)
    """
    match = _FORM.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of:
        raise UsageError(f"--shard {text}: give the number of this shard and how many there are, as in 2/3.")
    return number, of


def shard_of(mutants: Sequence[Mutant], number: int, of: int) -> tuple[Mutant, ...]:
    """Return the mutants of one shard, in order. Shards differ in size by at most one; a hash decides who has which."""
    ranked = sorted((mutant.id for mutant in mutants), key=lambda id: digest_of(["shard", id]))
    own = set(ranked[number - 1 :: of])
    return tuple(mutant for mutant in mutants if mutant.id in own)


def sharded(plan: Plan, number: int, of: int) -> Plan:
    """Return the plan of shard `number` of `of`; every shard has the whole campaign's baseline and controls."""
    own = shard_of(plan.mutants, number, of)
    if not own:
        raise UsageError(
            f"--shard {number}/{of} has no mutants: there are only {len(plan.mutants)}. Use fewer shards."
        )
    ids = {mutant.id for mutant in own}
    return plan.model_copy(
        update={
            "mutants": own,
            "ignored": {id: reason for id, reason in plan.ignored.items() if id in ids},
            "order": tuple(id for id in plan.order if id in ids),
            "shard": Shard(number=number, of=of, mutants=tuple(mutant.id for mutant in plan.mutants)),
        }
    )


def part_of(plan: Plan, shard: str | None, *, baseline_only: bool, fresh: bool, go_on: bool = True) -> Plan:
    """Return the part of a plan that the command line asks for: a shard, the baseline with the controls, or all of it.

    `go_on`: whether scenarios that never pass are left out; otherwise one stops the run.
    """
    plan = plan.model_copy(update={"stops_at_failing": not go_on})
    if shard is None:
        return baseline_of(plan) if baseline_only else plan
    number, of = parse_shard(shard)
    if plan.precision is not None:
        raise UsageError("--shard and --precision: a shard tries all of its mutants. Give one of the two.")
    if baseline_only:
        raise UsageError("--baseline-only and --shard: run the baseline first, then the shards.")
    if fresh:
        raise UsageError(f"--shard with --fresh would run the baseline again in every shard. {SHARED}")
    return sharded(plan, number, of)


def baseline_of(plan: Plan) -> Plan:
    """Return the baseline and the controls of a plan, without its mutants."""
    note = f"baseline and controls only, for a campaign of {len(plan.mutants)} mutants"
    return plan.model_copy(update={"mutants": (), "ignored": {}, "order": (), "notes": (*plan.notes, note)})


def merged_plan(plans: Mapping[str, Plan], run_id: str, now: float) -> Plan:
    """Return the plan of the whole campaign, from the plans of its shards and the places of their stores.

    Raises `UsageError` where they are not all the shards of one campaign.
    """
    (where, first), *others = plans.items()
    for elsewhere, plan in others:
        if differing := list(_differences(first, plan)):
            raise UsageError(
                f"{elsewhere} and {where} are not shards of one campaign: they differ in {' and '.join(differing)}. "
                "Run the shards from the same files, with the same options."
            )
    _check_complete(plans)
    whole = next(plan.shard.mutants for plan in plans.values() if plan.shard)
    mutants = {mutant.id: mutant for plan in plans.values() for mutant in plan.mutants}
    return first.model_copy(
        update={
            "run_id": run_id,
            "started": now,
            "mutants": tuple(mutants[id] for id in whole),
            "ignored": {id: reason for plan in plans.values() for id, reason in plan.ignored.items()},
            "order": (),
            "shard": None,
            "merged": tuple(plan.run_id for plan in plans.values()),
            "fresh": False,
            "stops_at_failing": False,
            "budget": type(first.budget)(),
        }
    )


def same_campaign(plan: Plan, other: Plan) -> bool:
    """Return whether two runs are shards of the same campaign."""
    return not any(_differences(plan, other))


def _differences(plan: Plan, other: Plan) -> Iterator[str]:
    for field, phrase in _ALIKE.items():
        if getattr(plan, field) != getattr(other, field):
            yield phrase
    if plan.shard and other.shard:
        if plan.shard.of != other.shard.of:
            yield "the number of shards"
        if set(plan.shard.mutants) != set(other.shard.mutants):
            yield "the mutants of the whole campaign"


def _check_complete(plans: Mapping[str, Plan]) -> None:
    places: dict[int, str] = {}
    of = 0
    for where, plan in plans.items():
        assert plan.shard
        of = plan.shard.of
        if plan.shard.number in places:
            raise UsageError(f"shard {plan.shard} is there twice: {places[plan.shard.number]} and {where}.")
        places[plan.shard.number] = where
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in places]
    if missing:
        are_missing = "shard {} is missing" if len(missing) == 1 else "shards {} are missing"
        raise UsageError(
            f"{are_missing.format(', '.join(missing))}. Give `agentmut run --shard {missing[0]}`, and name the "
            ".agentmut folders of all shards."
        )
