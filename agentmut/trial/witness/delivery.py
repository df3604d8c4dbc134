"""How much of a mutant arrived over its trials: a change may reach only one of several agents, or only later turns."""

from dataclasses import dataclass, field

from agentmut.nouns import Footprint, WitnessSummary
from agentmut.trial.witness.witness import Witness


@dataclass
class Delivery:
    """The combined witnesses of a mutant's trials."""

    trials: int = 0
    edits: int = 0
    seen: set[int] = field(default_factory=set)
    """Numbers of the edits that some trial showed."""
    fewest: int = 0
    """Edits that the trial with the fewest showed."""
    could: int = 0
    """Requests of these trials that could have shown the change."""
    shown: int = 0
    first_missed: int = 0
    """Trials whose first such request did not show it."""
    prompts: dict[str, bool] = field(default_factory=dict)
    """System prompts of such requests, by digest, and whether some request with it showed the change."""

    def record(self, witness: Witness, seen: Footprint) -> None:
        """Take in a trial that showed the change, in part or as a whole."""
        self.fewest = min(self.fewest, witness.seen) if self.trials else witness.seen
        self.trials += 1
        self.edits = witness.edits
        self.seen.update(number for number, sighting in enumerate(witness.sightings) if sighting.arrived)
        could, shown = witness.could, frozenset(witness.shown)
        self.could += len(could)
        self.shown += len(shown)
        self.first_missed += bool(could) and could[0] not in shown
        for number in could:
            prompt = seen.requests[seen.exchanges[number]].prompt_digest
            self.prompts[prompt] = self.prompts.get(prompt, False) or number in shown

    def summary(self, route: str, witnessed: int, of: int) -> WitnessSummary:
        """Summarise the delivery for result.json."""
        return WitnessSummary(
            route=route,
            trials=witnessed,
            of=of,
            edits=self.edits,
            edits_seen=len(self.seen),
            fewest_edits=self.fewest,
            requests=self.could,
            requests_shown=self.shown,
            first_missed=self.first_missed,
            prompts=len(self.prompts),
            prompts_shown=sum(self.prompts.values()),
        )
