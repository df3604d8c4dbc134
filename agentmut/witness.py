"""Did the mutation arrive? Read off what a trial sent to the model, or which parts of its config it read.

Without this, mutants that never reached the agent would be counted as survivors.
"""

from collections.abc import Sequence
from enum import StrEnum

from agentmut.config import AgentConfig
from agentmut.frozen import Frozen
from agentmut.mutant import Edit, Mutant
from agentmut.probes import probe_for
from agentmut.wire.footprint import Footprint


class Route(StrEnum):
    """Where a witness was taken."""

    SENT = "sent"
    """In a request that left for a model service."""
    READ = "read"
    """In the agent's reads of its config; used when no model request is visible."""
    EFFECT = "effect"
    """Nowhere: the agent's process died with all that could be seen, and that it died is the change's effect."""


class Witness(Frozen):
    """Proof that a trial ran with its mutation: `seen` of `edits` edits arrived."""

    route: Route
    seen: int
    edits: int


class Detector:
    """Looks for one mutant's edits in footprints of trials."""

    def __init__(self, mutant: Mutant, base: AgentConfig) -> None:
        self._edits = mutant.edits
        mutated = mutant.apply(base)
        self._probes = [probe_for(edit, mutant.edits, base, mutated) for edit in mutant.edits]

    def witness(self, seen: Footprint) -> Witness | None:
        """What a mutated trial with this footprint proves; None when no edit arrived.

        A mutant without edits (identity) is witnessed by any activity.
        """
        route = Route.SENT if seen.requests else Route.READ
        if not self._edits:
            return Witness(route=route, seen=0, edits=0) if seen.requests or seen.reads else None
        if seen.requests:
            arrived = sum(probe.delivered(seen.requests) for probe in self._probes)
        else:
            arrived = sum(_was_read(edit, seen.reads) for edit in self._edits)
        return Witness(route=route, seen=arrived, edits=len(self._edits)) if arrived else None

    def carried(self, seen: Footprint) -> bool:
        """Whether a run of the original with this footprint carried the part that the mutant changes."""
        if not self._edits:
            return bool(seen.requests or seen.reads)
        if seen.requests:
            return any(probe.carried(seen.requests) for probe in self._probes)
        return any(_was_read(edit, seen.reads) for edit in self._edits)


def _was_read(edit: Edit, reads: Sequence[str]) -> bool:
    """Reads are dotted paths such as `prompt` or `model.name`; one covers all that lies beneath it."""
    parts = ".".join(part for part in edit.path if not part.isdigit())
    return any(parts == read or parts.startswith(f"{read}.") for read in reads)
