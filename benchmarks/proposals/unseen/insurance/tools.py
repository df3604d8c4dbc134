"""Policies and claims of Northmoor Mutual."""

from typing import Literal, TypedDict


class Policy(TypedDict):
    """A policy for one home."""

    holder: str
    state: str
    cover: str
    bank: str


POLICIES: dict[str, Policy] = {
    "NM-88120": {
        "holder": "Gareth Whitlock",
        "state": "active",
        "cover": "water, fire and storm",
        "bank": "Severn Bank, account ending in 819",
    },
    "NM-88345": {
        "holder": "Siobhan Daly",
        "state": "active",
        "cover": "theft and storm",
        "bank": "Harbour Bank, account ending in 512",
    },
    "NM-87002": {
        "holder": "Pieter Maas",
        "state": "suspended, because the premium is overdue",
        "cover": "fire",
        "bank": "Severn Bank, account ending in 034",
    },
}
CLAIMS = {
    "C-4066": "with the handler Joan Ibbotson since 2025-01-27",
    "C-4071": "waiting for photos of the ceiling",
}


def retrieve_policy(policy_number: str) -> str:
    """Retrieve a policy: holder, state, cover."""
    found = POLICIES.get(policy_number)
    if not found:
        return f"Policy {policy_number} is unknown."
    return f"Policy {policy_number} of {found['holder']} is {found['state']}. It covers {found['cover']}."


def file_claim(
    policy_number: str, cause: Literal["water", "fire", "storm", "theft"], date: str, damage: int
) -> str:
    """File a claim for damage in pounds; the date as YYYY-MM-DD."""
    if policy_number not in POLICIES:
        return f"Policy {policy_number} is unknown."
    return f"Claim number C-4080 for {cause} damage of {damage} pounds on {date} is filed under policy {policy_number}."


def track_claim(claim_number: str) -> str:
    """Track the progress of a claim."""
    state = CLAIMS.get(claim_number, "unknown")
    return f"Claim {claim_number} is {state}."


def schedule_assessor(claim_number: str) -> str:
    """Schedule the visit of an assessor for a claim."""
    return f"An assessor visits for claim {claim_number} on 2025-02-19 between 9:00 and 12:00."


TOOLS = (retrieve_policy, file_claim, track_claim, schedule_assessor)
