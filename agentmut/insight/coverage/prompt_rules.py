"""Instruction coverage: the rules of the prompt that the scenarios exercise, by their words and by ablation."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut.insight.coverage.nouns import CoverageItem, Dimension, RuleCoverage
from agentmut.language import PromptDocument, stems
from agentmut.nouns import AgentTrace, Effect, MutantRow, Scenario, Status
from agentmut.seams import effect_of

LEXICAL_REACH = 0.5
"""The share of a rule's content words that one turn has to share, by their stems, to count as reaching it.

A convention: no share tells for certain that a rule was at work. That is why ablation is counted apart.
"""
REMEMBERED = 2_000
"""Texts whose words are remembered at once."""
ABLATING = (Effect.DROPS_RULE, Effect.NEGATES_RULE)
"""What mutants do that lose a rule or turn it around."""


class Rule(NamedTuple):
    """An instruction of the prompt and its place."""

    item: CoverageItem
    line: int | None
    last_line: int | None
    text: str
    stems: frozenset[str]

    def without_words(self) -> "Rule":
        """Return the rule with only its place."""
        return self._replace(item=self.item.model_copy(update={"text": ""}), text="", stems=frozenset())


Where = Callable[[int, int], tuple[str, int | None, int | None, int | None]]
"""Path, line, last line and column of some characters of the prompt."""


def rules_of(document: PromptDocument, where: Where) -> tuple[Rule, ...]:
    """Return the instructions in order; a second one on a line has its column too."""
    found: list[Rule] = []
    taken: set[str] = set()
    for number, instruction in enumerate(document.instructions, 1):
        path, line, last, column = where(instruction.start, instruction.end)
        name = f"{path}:{line}" if line else f"{path}#{number}"
        name = f"{name}:{column}" if name in taken else name
        taken.add(name)
        text = " ".join(instruction.text.split())
        item = CoverageItem(dimension=Dimension.RULE, name=name, text=text)
        found.append(Rule(item, line, last, instruction.text, stems(instruction.text)))
    return tuple(found)


class RuleCloseness(NamedTuple):
    """The closeness of a scenario's runs to a rule: the largest share of the rule's stems in one turn."""

    scenario: str
    share: float


class Reach:
    """The scenarios whose words reach each rule, trace by trace.

    Shared is what the user says in one turn together with what the agent answers and calls in it: in the words
    of a long conversation every rule would be found.
    """

    def __init__(self, rules: Sequence[Rule], scenarios: Mapping[str, Scenario]) -> None:
        self._rules = [rule for rule in rules if rule.stems]
        self._telling = frozenset[str]().union(*(rule.stems for rule in self._rules))
        self._scenarios = scenarios
        self._best: dict[str, RuleCloseness] = {}
        self._near: dict[str, dict[str, None]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._known: set[tuple[str, frozenset[str]]] = set()

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        if self._rules:
            asked = self._words_of_turns(scenario)
            for turn, text in _exchanges(trace).items():
                told = self._telling_words(text) | (asked[turn] if turn < len(asked) else frozenset())
                if self._is_new(scenario, told):
                    self._take(scenario, told)

    def best(self, rule: Rule) -> RuleCloseness | None:
        """Return the scenario that shares most words with a rule; None where none shares any."""
        return self._best.get(rule.item.name)

    def near(self, rule: Rule) -> Iterable[str]:
        """Return the scenarios that reach a rule."""
        return self._near.get(rule.item.name, ())

    def _take(self, scenario: str, telling_words: frozenset[str]) -> None:
        for rule in self._rules:
            found = RuleCloseness(scenario, len(rule.stems & telling_words) / len(rule.stems))
            name = rule.item.name
            if found.share >= LEXICAL_REACH:
                self._near.setdefault(name, {})[scenario] = None
            if found.share and (name not in self._best or _rank(found) < _rank(self._best[name])):
                self._best[name] = found

    def _words_of_turns(self, scenario: str) -> list[frozenset[str]]:
        if scenario not in self._scenarios:
            return []
        return [self._telling_words(_text(turn)) for turn in self._scenarios[scenario].turns]

    def _telling_words(self, text: str) -> frozenset[str]:
        if len(self._words) >= REMEMBERED:
            self._words.clear()
        if text not in self._words:
            self._words[text] = stems(text) & self._telling
        return self._words[text]

    def _is_new(self, scenario: str, telling_words: frozenset[str]) -> bool:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        before = len(self._known)
        self._known.add((scenario, telling_words))
        return len(self._known) > before


def _rank(found: RuleCloseness) -> tuple[float, str]:
    return -found.share, found.scenario


def rule_coverage(rule: Rule, reached: RuleCloseness | None, mutants: Sequence[MutantRow]) -> RuleCoverage:
    """Return the coverage of one rule; `reached` is the scenario that comes nearest to it."""
    own = [row for row in mutants if _is_of(row, rule)]
    return RuleCoverage(
        item=rule.item,
        reach=(reached.share if reached else 0.0) if rule.stems else None,
        scenario=reached.scenario if reached else "",
        ablation=_ablation(own),
        mutants=tuple(row.id for row in own),
    )


def ablated(rows: Sequence[MutantRow]) -> list[MutantRow]:
    """Return the decided mutants that drop or negate rules."""
    decided = (Status.KILLED, Status.SURVIVED)
    return [row for row in rows if effect_of(row) in ABLATING and row.status in decided]


def _ablation(rows: Sequence[MutantRow]) -> str:
    if any(row.status is Status.KILLED for row in rows):
        return "killed"
    if any(row.behaviour and row.behaviour.changed for row in rows):
        return "changed"
    if any(row.behaviour is None for row in rows):
        return "uncompared"
    return "silent" if rows else ""


def _is_of(row: MutantRow, rule: Rule) -> bool:
    line = row.target.line
    here = line is None or rule.line is None or rule.line <= line <= (rule.last_line or rule.line)
    said = row.before.strip()
    if not rule.text and not said:  # neither is kept
        return here and line is not None and rule.line is not None
    return here and bool(said) and (said in rule.text or rule.text in said)


def _exchanges(trace: AgentTrace) -> dict[int, str]:
    """Return the text of each turn: the answers, and the calls with their arguments."""
    said: dict[int, list[str]] = {turn: [_text(answer)] for turn, answer in enumerate(trace.outputs)}
    for step in trace.tool_calls:
        said.setdefault(step.turn, []).extend((step.tool or "", _text(step.arguments or {})))
    return {turn: "\n".join(parts) for turn, parts in said.items()}


def _text(value: object) -> str:
    return value if isinstance(value, str) else _written(value)


_written = json.JSONEncoder(ensure_ascii=False).encode
"""Made once: `json.dumps` makes another one at every call."""
