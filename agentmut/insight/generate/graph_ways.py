"""How to lead a run over an edge of the agent's graph: the inputs to start from, and the words to use."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.models import is_model
from agentmut.insight.generate.proposal_material import Material, whole
from agentmut.insight.generate.user_wording import cases, in_words, request
from agentmut.language import STOP_WORDS, parse, stem, stems, words
from agentmut.nouns import END, START, AgentConfig, Flow, Scenario

TELLING = 4
"""Content words of a rule that are said where it states no case."""


class UntakenEdge(NamedTuple):
    """The first edge that no run has taken, on the shortest way to what is aimed at."""

    source: str
    """The last node that runs come to; empty where none is known."""
    names: tuple[str, ...]
    """How the flow names what comes after it: labels, handoffs, branches, nodes; the nearest first."""


def way_to(known: Material, source: str, target: str) -> UntakenEdge:
    """Return the way to the edge from `source` to `target`, or to the node `target` where `source` is empty."""
    flow = Flow.from_orchestration(known.config.orchestration)
    graph = Graph.from_flow(flow)
    entered = {START}.union(*map(graph.entered, known.traces.values()))
    if source in entered:
        steps = [source, target]
    else:
        steps = [*_shortest(graph, entered, source or target), *([target] if source else [])]
    names = [name for edge in pairwise(steps) for name in _names(flow, *edge)] or [target]
    return UntakenEdge(
        steps[0] if len(steps) > 1 else "", tuple(dict.fromkeys(n for n in names if n not in (START, END)))
    )


def starts(known: Material, edge: UntakenEdge) -> tuple[Scenario, ...]:
    """Return the scenarios whose runs reach the start of the way; all scenarios if none is known to reach it.

    Those with most of its words come first.
    """
    graph = Graph.from_flow(Flow.from_orchestration(known.config.orchestration))
    there = [
        scenario
        for scenario in known.scenarios
        if scenario.name in known.traces and edge.source in graph.entered(known.traces[scenario.name])
    ]
    about = _stems_of(edge)
    return tuple(sorted(there or known.scenarios, key=lambda s: -len(about & stems(whole(s.turns)))))


def reasons(config: AgentConfig, edge: UntakenEdge) -> Iterator[tuple[str, str]]:
    """Yield what a user may say to lead a run there, with its source; the likeliest first."""
    for text in _conditions(config.orchestration, set(edge.names)):
        for case in (*cases(f"If {text[:1].lower()}{text[1:]}, go on."), *cases(text)):
            yield case, "written from a condition of the flow"
    for tool in config.tools:
        if {tool.name, tool.own_name} & set(edge.names):
            yield request(tool, {}), f"written from the description of {tool.name}"
    yield from _of_rules(config, _stems_of(edge))
    for name in edge.names:
        yield f"It is about {in_words(name)}.", f"written from the name of {name}"


def nodes_of_model(orchestration: Mapping[str, Any], model: str) -> tuple[str, ...]:
    """Return the nodes whose own settings, or whose entry in a setting, name this model."""
    nodes = Graph.from_flow(Flow.from_orchestration(orchestration)).nodes
    places = (place for place, text in _texts(orchestration) if is_model(model, text))
    return tuple(dict.fromkeys(name for place in places for name in reversed(place) if name in nodes))


def _shortest(graph: Graph, entered: Iterable[str], goal: str) -> list[str]:
    """Return the shortest path from an entered node to the goal; only the goal if no edge leads there."""
    before: dict[str, list[str]] = {}
    for a, b in graph.edges:
        before.setdefault(b, []).append(a)
    waiting, been, known = deque([[goal]]), {goal}, set(entered) - {goal}
    while waiting:
        way = waiting.popleft()
        if way[0] in known:
            return way
        for node in before.get(way[0], ()):
            if node not in been:
                been.add(node)
                waiting.append([node, *way])
    return [goal]


def _names(flow: Flow, source: str, target: str) -> Iterator[str]:
    for branch in flow.branches:
        if branch.source == source:
            yield from (label for label, end in branch.ends.items() if end == target)
    yield from (name for name, end in flow.handoffs.get(source, {}).items() if end == target)
    yield target


def _stems_of(edge: UntakenEdge) -> frozenset[str]:
    return stems(" ".join(map(in_words, edge.names)))


def _conditions(orchestration: Mapping[str, Any], names: set[str]) -> Iterator[str]:
    """Yield the texts under one of these names, in the agent's own keys."""
    own = {key: value for key, value in orchestration.items() if key not in Flow.model_fields}
    yield from (text for place, text in _texts(own) if names & set(place) and len(text.split()) > 1)


def _texts(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of a setting, each with the keys that lead to it; for a list of entries, their names too."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        named = value.get("name")
        here = (*place, named) if isinstance(named, str) else place
        for key, each in value.items():
            yield from _texts(each, (*here, str(key)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, place)


def _of_rules(config: AgentConfig, about: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield sentences from the prompt's rules about a topic; rules with most of its words come first."""
    rules = [" ".join(rule.text.split()) for rule in parse(config.prompt, config.tool_names).instructions]
    speaking = sorted((rule for rule in rules if about & stems(rule)), key=lambda r: -len(about & stems(r)))
    for rule in speaking:
        found = tuple(cases(rule)) or _topic_sentence(rule, about)
        yield from ((case, "written from a rule of the prompt") for case in found)


def _topic_sentence(rule: str, about: frozenset[str]) -> tuple[str, ...]:
    said = [w.text for w in words(rule) if w.text.lower() not in STOP_WORDS and stem(w.text) not in about]
    return (f"It is about {' '.join(said[:TELLING])}.",) if said else ()
