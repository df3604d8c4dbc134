"""Instruction coverage: the rules of the prompt that the scenarios exercise, by their words and by ablation."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut.insight.coverage.nouns import CoverageItem, Dimension, RuleCoverage
from agentmut.insight.coverage.sightings import Traces
from agentmut.language import PromptDocument, stems
from agentmut.nouns import AgentTrace, Effect, MutantRow, Scenario, Status
from agentmut.seams import effect_of

LEXICAL_REACH = 0.5
"""The share of a rule's content words that one turn has to share, by their stems, to count as reaching it.

A convention: no share tells for certain that a rule was at work. That is why ablation is counted apart.
"""
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


class Reached(NamedTuple):
    """The closeness of a scenario's runs to a rule: the largest share of the rule's stems in one turn."""

    scenario: str
    share: float


def reaches(
    rules: Sequence[Rule], traces: Traces, scenarios: Mapping[str, Scenario]
) -> dict[str, list[Reached]]:
    """Return the scenarios that reach each rule, the largest share of words first.

    Shared is what the user says in one turn together with what the agent answers and calls in it: in the words
    of a long conversation every rule would be found.
    """
    speaking: list[tuple[Rule, dict[str, float]]] = [(rule, {}) for rule in rules if rule.stems]
    telling = frozenset[str]().union(*(rule.stems for rule, _ in speaking))
    for name, runs in traces.items():
        asked = [stems(_text(turn)) & telling for turn in scenarios[name].turns] if name in scenarios else []
        told = _words_of_turns(runs, asked, telling)
        for rule, best in speaking if told else ():
            best[name] = max(map(len, map(rule.stems.intersection, told))) / len(rule.stems)
    return {
        rule.item.name: sorted(
            (Reached(*each) for each in best.items() if each[1]), key=lambda r: (-r.share, r.scenario)
        )
        for rule, best in speaking
    }


def _words_of_turns(
    runs: Iterable[AgentTrace], asked: Sequence[frozenset[str]], telling: frozenset[str]
) -> set[frozenset[str]]:
    """Return the distinct sets of telling words in one turn of a run, including the user's words."""
    said = {exchange for trace in runs for exchange in _exchanges(trace).items()}
    return {
        (stems(text) & telling) | (asked[turn] if turn < len(asked) else frozenset()) for turn, text in said
    }


def rule_coverage(rule: Rule, reached: Sequence[Reached], mutants: Sequence[MutantRow]) -> RuleCoverage:
    """Return the coverage of one rule."""
    own = [row for row in mutants if _is_of(row, rule)]
    return RuleCoverage(
        item=rule.item,
        reach=(reached[0].share if reached else 0.0) if rule.stems else None,
        scenario=reached[0].scenario if reached else "",
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
