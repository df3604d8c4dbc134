"""Assertions that would have killed survivors of a run, found in the trials stored."""

from collections.abc import Iterable
from typing import NamedTuple

from agentmut.campaign import Session, stored_campaign
from agentmut.insight import StoredRuns, mine
from agentmut.nouns import AssertionSuggestion
from agentmut.store import Store
from agentmut.usecases.suggestions import keep_proposals


class MinedAssertions(NamedTuple):
    """The assertions found in the stored trials."""

    assertions: tuple[AssertionSuggestion, ...]
    """The best of each mutant first; the mutant that an assertion was mined for is the first of its `mutants`."""
    notes: tuple[str, ...]
    """Stored runs that could not be read for it, in words."""


def mined_assertions(
    session: Session, store: Store, run: str, mutants: Iterable[str], limit: int = 3
) -> MinedAssertions:
    """Return at most `limit` assertions for each mutant. What is returned is noted as proposed in the store.

    Raises `UsageError` where the store has no such campaign.
    """
    stored = StoredRuns(stored_campaign(session, store, run, texts=True))
    found = tuple(one for id in mutants for one in mine(stored.campaign, id, limit=limit, stored=stored))
    keep_proposals(session, store, found, stored.campaign.run.id)
    return MinedAssertions(found, stored.notes)
