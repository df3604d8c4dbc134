"""The state of one model at one point of one conversation."""

from dataclasses import dataclass
from functools import cached_property

from agentmut.language import Modality
from agentmut.simulator.mind.conditions import Condition
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.formats import Format
from agentmut.simulator.mind.language import ramp, topics
from agentmut.simulator.mind.profiles import Profile
from agentmut.simulator.mind.rules import Clause, Order, Rule
from agentmut.simulator.mind.saying import is_speech
from agentmut.simulator.mind.situation import Situation


@dataclass(frozen=True)
class Mind:
    """A model's knowledge, the instructions that it follows, and the outcome of its random choices."""

    situation: Situation
    rules: tuple[Rule, ...]
    """The rules that it follows."""
    dice: Dice
    profile: Profile

    @cached_property
    def duties(self) -> tuple[Clause, ...]:
        """Return steps that are called for now."""
        steps = ((rule, clause) for rule in self.rules for clause in rule.clauses if not clause.forbids)
        return tuple(clause for rule, clause in steps if self._due(rule, clause))

    @cached_property
    def bans(self) -> tuple[Clause, ...]:
        """Return steps that are forbidden now."""
        steps = ((rule, clause) for rule in self.rules for clause in rule.clauses if clause.forbids)
        return tuple(clause for rule, clause in steps if self._holds(clause.when, rule.text))

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """Return the orders between actions that hold now."""
        orders = ((rule, order) for rule in self.rules for order in rule.orders)
        return tuple(order for rule, order in orders if self._holds(order.when, rule.text))

    @cached_property
    def forms(self) -> tuple[Format, ...]:
        """Return what the answer has to look like now."""
        forms = ((rule.form, rule) for rule in self.rules)
        return tuple(form for form, rule in forms if form and self._holds(rule.when, rule.text))

    def about(self, phrase: str) -> bool:
        """Return whether the conversation touches on what a step is done to."""
        _, _, matter = phrase.partition(" ")  # without its verb
        share = self.situation.weights.share(topics(matter), self.situation.known)
        return self.dice.chance(f"about:{phrase}", ramp(share, 0.2, 0.45))

    def tools_for(self, phrase: str) -> tuple[str, ...]:
        """Return the tools that a step refers to; a step of speech refers to none."""
        return () if is_speech(phrase, self.situation.toolbox) else self.situation.toolbox.tools_for(phrase)

    def _due(self, rule: Rule, clause: Clause) -> bool:
        if self._tells(rule, clause):
            return False
        if clause.when is not None:
            return self._holds(clause.when, rule.text)
        return clause.always or not self.tools_for(clause.phrase) or self.about(clause.phrase)

    def _tells(self, rule: Rule, clause: Clause) -> bool:
        """Return whether a step is but a statement that happens to name what a tool is about."""
        plain = rule.modality is Modality.IMPERATIVE and bool(self.tools_for(clause.phrase))
        return plain and not self.situation.toolbox.orders(clause.phrase)

    def _holds(self, condition: Condition | None, decision: str) -> bool:
        """Return whether the model takes a condition to hold; a missing condition holds."""
        if condition is None:
            return True
        degree = condition.degree(self.situation)
        return degree > 0 and self.dice.chance(f"when:{decision}:{condition.text}", degree)
