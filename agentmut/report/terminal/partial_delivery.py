"""Describe changes that reached their agent only in part."""

from collections.abc import Iterator, Sequence

from agentmut.nouns import MutantRow, WitnessSummary


def partly_delivered(rows: Sequence[MutantRow]) -> list[tuple[MutantRow, str]]:
    """Return the mutants whose change did not arrive as a whole, with what is missing."""
    return [(row, note) for row in rows if (note := delivery_note(row))]


def delivery_note(row: MutantRow) -> str:
    """Return how much of the change arrived; empty where all of it did, or nothing is known.

    Of a pair each scenario may reach one part only, so that the number of its edits says nothing.
    """
    witness = row.witness
    return "; ".join(_missing(witness, bool(row.parts))) if witness else ""


def _missing(witness: WitnessSummary, pair: bool) -> Iterator[str]:
    shown, of = witness.requests_shown, witness.requests
    if shown < of:
        yield f"reached {shown} of {of} requests that could have shown it"
        if witness.first_missed == witness.trials:
            yield "not the first one of a run"
        elif witness.first_missed:
            yield f"not the first one in {witness.first_missed} of {witness.trials} runs"
        if witness.prompts_shown < witness.prompts:
            yield f"in the requests of {witness.prompts_shown} of {witness.prompts} system prompts"
    if not pair and witness.edits_seen < witness.edits:
        yield f"{witness.edits_seen} of its {witness.edits} edits showed"
    elif not pair and witness.fewest_edits < witness.edits:
        yield f"some runs showed only {witness.fewest_edits} of its {witness.edits} edits"
