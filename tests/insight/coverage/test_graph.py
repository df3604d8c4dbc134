"""Graphs: nodes, edges, how many routes there are, and which of them a run took."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import UsageError
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.graph_and_rules import edges_never_taken
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Dimension
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.flow import END, START, Flow
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

LOOP = Graph.from_flow(
    Flow.from_orchestration(
        {"edges": [[START, "agent"], ["agent", "tools"], ["tools", "agent"], ["agent", END]]}
    )
)
FORK: dict[str, Any] = {
    "nodes": ["triage", "billing", "tech"],
    "edges": [[START, "triage"], ["billing", END], ["tech", END]],
    "branches": [{"source": "triage", "name": "route", "ends": {"money": "billing", "other": "tech"}}],
}


def visits(*nodes: str, edges: tuple[tuple[str, str], ...] = ()) -> AgentTrace:
    return AgentTrace(steps=tuple(Step(action=Action.REASON, node=node) for node in nodes), edges=edges)


def test_edges_branches_and_handoffs_lead_on() -> None:
    graph = Graph.from_flow(
        Flow.from_orchestration(
            {
                "edges": [["a", "b", "c"]],
                "branches": [{"source": "c", "name": "r", "ends": {"x": "d", "y": END}}],
                "handoffs": {"d": {"transfer_to_e": "e"}},
            }
        )
    )
    assert graph.nodes == ("a", "c", "b", "d", "e")
    assert graph.edges == (("a", "c"), ("b", "c"), ("c", "d"), ("c", END), ("d", "e"))


def test_routes_are_counted_up_to_a_depth() -> None:
    # start-agent-end is 2 edges, each round through the tools 2 more: 2, 4, 6, 8, 10, 12
    assert [LOOP.routes(depth, 1000) for depth in (1, 2, 3, 4, 12)] == [0, 1, 1, 2, 6]
    assert Graph.from_flow(Flow.from_orchestration(FORK)).routes(12, 1000) == 2


def test_many_routes_are_counted_without_listing_them() -> None:
    layers = [[f"{layer}.{i}" for i in range(10)] for layer in range(50)]
    edges = [e for a, b in itertools.pairwise(layers) for e in itertools.product(a, b)]
    edges += [(START, node) for node in layers[0]] + [(node, END) for node in layers[-1]]
    graph = Graph(tuple(itertools.chain(*layers)), tuple(edges))
    assert graph.routes(51, 10**60) == 10**50


@settings(deadline=None, max_examples=30)
@given(st.sets(st.tuples(st.sampled_from([START, "a", "b", "c"]), st.sampled_from(["a", "b", "c", END]))))
def test_the_count_is_that_of_a_list_of_all_routes(edges: set[tuple[str, str]]) -> None:
    def listed(node: str, left: int) -> int:
        if node == END:
            return 1
        return sum(listed(b, left - 1) for a, b in edges if a == node) if left else 0

    assert Graph(("a", "b", "c"), tuple(sorted(edges))).routes(5, 10**6) == listed(START, 5)


def test_a_loop_is_told_by_the_nodes_of_the_steps() -> None:
    taken = ((START, "agent"), ("agent", "tools"), ("tools", "agent"), ("agent", END))
    once = LOOP.walked(visits("agent", "tools", "agent", edges=taken), 12)
    twice = LOOP.walked(visits("agent", "tools", "tools", "agent", "tools", "agent", edges=taken), 12)
    assert once == {(START, "agent", "tools", "agent", END)}
    assert twice == {(START, "agent", "tools", "agent", "tools", "agent", END)}
    assert LOOP.walked(visits("agent", "tools", "agent", "tools", "agent", edges=taken), 5) == frozenset()


def test_nodes_without_steps_are_filled_in() -> None:
    graph = Graph(("a", "b", "c"), ((START, "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", END)))
    taken = graph.edges
    assert graph.walked(visits("a", "c", "a", "c", edges=taken), 12) == {
        (START, "a", "b", "c", "a", "b", "c", END)
    }


def test_nodes_side_by_side_make_several_routes() -> None:
    edges = ((START, "a"), ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", END))
    graph = Graph(("a", "b", "c", "d"), edges)
    assert graph.walked(visits("a", "b", "c", "d", edges=edges), 12) == {
        (START, "a", "b", "d", END),
        (START, "a", "c", "d", END),
    }


def test_a_run_that_was_cut_short_went_no_route() -> None:
    assert LOOP.walked(visits("agent", edges=((START, "agent"), ("agent", "tools"))), 12) == frozenset()


def test_coverage_of_a_graph() -> None:
    config = AgentConfig(orchestration=FORK)
    trace = visits("triage", "billing", edges=((START, "triage"), ("triage", "billing"), ("billing", END)))
    coverage = measure({"one": [trace]}, config, CoverageSettings())
    assert coverage.of(Dimension.PATH).value == 0.5
    assert coverage.of(Dimension.NODE).value == pytest.approx(2 / 3)
    assert coverage.of(Dimension.EDGE).value == pytest.approx(3 / 5)
    missing = [str(i) for i in coverage.uncovered if i.dimension in (Dimension.NODE, Dimension.EDGE)]
    assert missing == ["node tech", "edge tech -> __end__", "edge triage -> tech"]


def test_steps_in_a_graph_of_a_node_count_for_the_node() -> None:
    trace = visits("triage", "billing/tools", edges=((START, "triage"),))
    coverage = measure({"one": [trace]}, AgentConfig(orchestration=FORK), CoverageSettings())
    assert coverage.of(Dimension.NODE).covered == 2


def test_a_graph_with_too_many_routes_falls_back_on_the_estimate() -> None:
    layers = [[f"{layer}.{i}" for i in range(4)] for layer in range(6)]
    edges = [list(e) for a, b in itertools.pairwise(layers) for e in itertools.product(a, b)]
    edges += [[START, node] for node in layers[0]] + [[node, END] for node in layers[-1]]
    config = AgentConfig(orchestration={"edges": [*edges]})
    row = measure({"one": [visits("0.0")]}, config, CoverageSettings()).of(Dimension.PATH)
    assert "Chao1" in row.basis and "more than 1000 routes" in row.basis


def test_traces_that_do_not_tell_edges_leave_edges_out() -> None:
    coverage = measure({"one": [visits("triage")]}, AgentConfig(orchestration=FORK), CoverageSettings())
    assert coverage.of(Dimension.EDGE).value is None
    assert coverage.of(Dimension.NODE).covered == 1


def test_a_malformed_orchestration_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"orchestration\.edges"):
        measure({}, AgentConfig(orchestration={"edges": "a -> b"}), CoverageSettings())


def test_edges_that_no_run_took_are_named_unless_the_traces_tell_of_none() -> None:
    flow = {"edges": [[START, "a"], ["a", "b"], ["a", END], ["b", END]]}
    config = AgentConfig(orchestration=flow)
    short = visits("a", edges=((START, "a"), ("a", END)))
    assert edges_never_taken(config, {"alpha": [short]}) == ("a -> b", f"b -> {END}")
    assert edges_never_taken(config, {"alpha": [visits("a")]}) == ()
    assert edges_never_taken(AgentConfig(), {"alpha": [short]}) == ()
