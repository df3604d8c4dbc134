"""The witness: whether the mutation arrived, read from a trial's model requests or the config parts that it read.

Without this, mutants that never reached the agent would be counted as survivors.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from enum import StrEnum

from agentmut._base import Frozen, canonical_json
from agentmut.nouns import SAMPLING, AgentConfig, Edit, Footprint, Mutant, RequestShape
from agentmut.recording import gone_file
from agentmut.trial.witness.probes import OrderProbe, Probe, TextProbe, probe_for


class Route(StrEnum):
    """The place where a witness was taken."""

    SENT = "sent"
    """In a request that left for a model service."""
    READ = "read"
    """In the agent's reads of its config; used when no model request is visible."""
    LIVE = "live"
    """In what was done during the run: a tool's call went wrong, the flow or the turns were others."""
    EFFECT = "effect"
    """Nowhere: the agent's process died with all that could be seen, and that it died is the change's effect."""


class Sighting(Frozen):
    """The exchanges of a trial, counted from 0, that show one edit."""

    arrived: bool = False
    """A live change arrives without being seen in an exchange."""
    exchanges: tuple[int, ...] = ()
    could: tuple[int, ...] = ()
    """Exchanges that could have shown the edit: they show it, or have what it changes as it was. A request of another
    agent that never has that part is none of them, as far as one request tells."""

    @property
    def of(self) -> int:
        """Return how many exchanges could have shown the edit."""
        return len(self.could)


class Witness(Frozen):
    """Proof that a trial ran with its mutation: `seen` of `edits` edits arrived."""

    route: Route
    seen: int
    edits: int
    parts: frozenset[str] = frozenset()
    """The ids of those parts of a higher-order mutant of which some edit arrived."""
    sightings: tuple[Sighting, ...] = ()
    """By edit, in the order of the mutant's."""

    @property
    def could(self) -> tuple[int, ...]:
        """Return the exchanges that could have shown any edit."""
        return tuple(sorted({number for sighting in self.sightings for number in sighting.could}))

    @property
    def shown(self) -> tuple[int, ...]:
        """Return the exchanges that show every edit that they could show."""
        lacking = {n for s in self.sightings for n in set(s.could).difference(s.exchanges)}
        return tuple(number for number in self.could if number not in lacking)


class Detector:
    """Looks for one mutant's edits in the footprints of trials."""

    def __init__(self, mutant: Mutant, base: AgentConfig) -> None:
        harmless = mutant.operator == "control.identity"  # the same agent, whatever of it arrives
        shown = () if harmless else mutant.edits
        self._edits = tuple(edit for edit in shown if edit.path[-1] not in _UNSEEN)
        self.mutated = mutated = mutant.apply(base)
        """The config that the mutant's trials run with."""
        self._probes: list[_OnWire | _Live] = [
            _detection(edit, mutant.edits, base, mutated) for edit in self._edits
        ]
        self._parts = {part.id: frozenset(map(_place, part.edits)) for part in mutant.parts}

    def witness(self, seen: Footprint) -> Witness | None:
        """Return the proof in the footprint of a mutated trial; None if no edit arrived.

        A mutant without edits (identity) is witnessed by any activity.
        """
        route = Route.SENT if seen.requests else Route.READ
        if not self._edits:
            return Witness(route=route, seen=0, edits=0) if seen.requests or seen.reads else None
        sightings = tuple(probe.sighting(seen) for probe in self._probes)
        triples = zip(self._edits, self._probes, sightings, strict=True)
        arrived = [(edit, probe) for edit, probe, sighting in triples if sighting.arrived]
        if not arrived:
            return None
        if all(isinstance(probe, _Live) and probe.mark in seen.marks for _, probe in arrived):
            route = Route.LIVE
        places = frozenset(_place(edit) for edit, _ in arrived)
        parts = frozenset(part for part, own in self._parts.items() if own & places)
        return Witness(
            route=route, seen=len(arrived), edits=len(self._edits), parts=parts, sightings=sightings
        )

    def informed(self, originals: Sequence[Footprint]) -> "Detector":
        """Return a detector that knows what trials of the original sent.

        That a tool, text or setting is gone proves nothing where another agent's requests never had it. Where all of
        the original's have it that have what stands beside it, one request without it is proof; where none has, as an
        API has no word for it, nothing is. Where some of the original's trials have it nowhere, since the agent that
        has it did not speak, it takes a request that is like none of those without it.
        """
        told = copy(self)
        told._probes = [probe.informed(originals) for probe in self._probes]
        return told

    def of_other_turns(self) -> "Detector":
        """Return a detector for trials whose turns differ from the turns of the known originals.

        What an agent picks may go by what it is asked, so that other documents or tools show no new order there.
        """
        told = copy(self)
        told._probes = [probe.of_other_turns() for probe in self._probes]
        return told

    def looked_for(self, seen: Footprint) -> tuple[Edit | None, bool]:
        """Return the first edit that requests can show, and whether they have its original; None if there is none."""
        pairs = zip(self._edits, self._probes, strict=True)
        edit, probe = next((pair for pair in pairs if isinstance(pair[1], _OnWire)), (None, None))
        return edit, bool(probe and probe.carried(seen))

    def carried(self, seen: Footprint) -> bool:
        """Return whether a run of the original with this footprint carried the part that the mutant changes."""
        if not self._edits:
            return bool(seen.requests or seen.reads)
        return any(probe.carried(seen) for probe in self._probes)


def _place(edit: Edit) -> tuple[str, tuple[int, int] | None, str]:
    """Return the key that tells the edits of two parts apart."""
    return edit.pointer, edit.span, canonical_json(edit.after)


_UNSEEN = frozenset({"implemented_by"})
"""What no trial shows: it goes with another edit, the one of the name."""


def _detection(
    edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig
) -> "_OnWire | _Live":
    part, *rest = edit.path
    if part == "tools" and rest[1:] == ["fault"]:
        return _Live(f"/tools/{base.tools[int(rest[0])].own_name}/fault")
    if part in ("orchestration", "history", "transcript", "reply"):
        return _Live("/".join(["", part, *rest[:1]]), edit)
    probe = probe_for(edit, edits, base, mutated)
    gone = (
        base.context[edit.index].name
        if part == "context" and edit.removes_item and edit.index is not None
        else ""
    )
    if gone in base.workspace:
        return _Live(gone_file(gone), place=probe)
    return _OnWire(edit, probe)


@dataclass(frozen=True)
class _OnWire:
    """An edit that shows in model requests or, for an agent without requests, in the reads of its config."""

    edit: Edit
    probe: Probe
    telling: bool = False
    """Whether one request is proof although it shows that something is gone."""
    never_there: bool = False
    """Whether the original's requests never had what is to go, or have no fixed order: then no request is proof."""
    usual: tuple[tuple[object, ...], ...] = ()
    """Requests of the original without what is to go, where there are trials with no others."""

    def informed(self, originals: Sequence[Footprint]) -> "_OnWire":
        """Return the detector with what the requests of the original show."""
        shapes = list(dict.fromkeys(shape for seen in originals for shape in seen.requests))
        if isinstance(self.probe, OrderProbe):
            firsts = [seen.requests[seen.exchanges[0]] for seen in originals if seen.requests]
            return replace(self, probe=self.probe.informed(shapes), never_there=self.probe.shuffles(firsts))
        if isinstance(self.probe, TextProbe):
            told = replace(self, probe=self.probe.informed(shapes))
            return told if isinstance(told.probe, TextProbe) else told.informed(originals)
        if not (self.probe.by_absence and shapes):
            return self
        without = [shape for shape in shapes if self.probe.shows(shape)]
        always = all(self.probe.carried(seen.requests) for seen in originals if seen.requests)
        return replace(
            self,
            telling=not without,
            never_there=len(without) == len(shapes),
            usual=() if always else tuple(map(_fixed, without)),
        )

    def of_other_turns(self) -> "_OnWire":
        """Return the detector for trials whose turns the original never had."""
        return replace(self, probe=self.probe.uninformed()) if isinstance(self.probe, OrderProbe) else self

    def _is_gone(self, shapes: Sequence[RequestShape]) -> bool:
        unusual = not self.usual or any(_fixed(shape) not in self.usual for shape in shapes)
        return unusual and self.probe.delivered(shapes)

    def sighting(self, seen: Footprint) -> Sighting:
        """Return the sighting that all requests prove together: one request cannot prove that a part is gone."""
        shapes = seen.requests
        if not shapes:
            return Sighting(arrived=_was_read(self.edit, seen.reads))
        shows, carries = (list(map(judge, shapes)) for judge in (self.probe.shows, self.probe.carries))
        arrived = not self.never_there and (self._is_gone(shapes) or (self.telling and any(shows)))
        if not arrived:
            shows = [False] * len(shapes)
        elif not any(shows):  # gone, and nothing tells which requests had it
            shows = [not has for has in carries]
        could = [shown or has for shown, has in zip(shows, carries, strict=True)]
        return Sighting(
            arrived=arrived,
            exchanges=tuple(n for n, shape in enumerate(seen.exchanges) if shows[shape]),
            could=tuple(n for n, shape in enumerate(seen.exchanges) if could[shape]),
        )

    def carried(self, seen: Footprint) -> bool:
        """Return whether a trial of the original carried what the edit changes."""
        if seen.requests:
            return self.probe.carried(seen.requests)
        return _was_read(self.edit, seen.reads)


@dataclass(frozen=True)
class _Live:
    """An edit that no request shows: the code that carries it out marks that it took effect."""

    mark: str
    edit: Edit | None = None
    """Given where the agent itself may carry it out, by what it reads of its config."""
    place: Probe | None = None
    """Finds what is changed in requests of the original, where these tell who comes to it."""

    def informed(self, originals: Sequence[Footprint]) -> "_Live":
        """Return the detector unchanged: a mark needs no comparison."""
        return self

    def of_other_turns(self) -> "_Live":
        """Return the detector unchanged: a mark does not depend on the turns."""
        return self

    def sighting(self, seen: Footprint) -> Sighting:
        """Return whether the mark was made, or the agent read the changed part of its config."""
        read = self.edit is not None and _was_read(self.edit, seen.reads)
        return Sighting(arrived=read or self.mark in seen.marks)

    def carried(self, seen: Footprint) -> bool:
        """Return whether a trial of the original came to what is changed, as far as its requests tell."""
        if self.place and seen.requests:
            return self.place.carried(seen.requests)
        return True  # the mutant's reach has said which scenarios come to it


def _fixed(shape: RequestShape) -> tuple[object, ...]:
    """Return the part of an agent's requests that does not depend on its input."""
    settings = (getattr(shape, name) for name in SAMPLING)
    return (shape.prompt_digest, shape.tools, shape.model, *settings)


def _was_read(edit: Edit, reads: Sequence[str]) -> bool:
    """Return whether a read covers the place of an edit; reads are dotted paths such as `model.name`."""
    parts = ".".join(part for part in edit.path if not part.isdigit())
    return any(parts == read or parts.startswith(f"{read}.") for read in reads)
