"""What the operators on the flow make of flows written by hand."""

from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import UsageError
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.flow import Flow
from agentmut.nouns.mutant import Intent, Mutant, Reach
from agentmut.seams.protocols.operator import Operator, OperatorOptions

OPERATORS: dict[str, Operator] = {
    entry.name.removeprefix("orchestration."): entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if entry.name.startswith("orchestration.")
}


def mutants(name: str, **flow: Any) -> tuple[Mutant, ...]:
    return generate(AgentConfig(orchestration=flow), [OPERATORS[name]], OperatorOptions()).mutants


def flows(name: str, **flow: Any) -> list[dict[str, Any]]:
    config = AgentConfig(orchestration=flow)
    return [mutant.apply(config).orchestration for mutant in mutants(name, **flow)]


def edges(name: str, *given: str) -> list[list[str]]:
    """The edges of each mutant, written as `a b` or, where b waits for several, `a c b`."""
    found = flows(name, edges=[edge.split() for edge in given])
    return [[" ".join(edge) for edge in flow["edges"]] for flow in found]


def test_all_are_seen_where_the_flow_ran_and_only_one_preserves() -> None:
    assert len(OPERATORS) == 10
    assert {operator.reach for operator in OPERATORS.values()} == {Reach.RAN}
    preserving = [name for name, operator in OPERATORS.items() if operator.intent is Intent.PRESERVE]
    assert preserving == ["serialise_branches"]


@pytest.mark.parametrize(
    ("limit", "cuts"),
    [(10007, [10, 4]), (25, [10, 4]), (8, [4, 2]), (4, [2, 1]), (3, [1]), (2, [1]), (1, [])],
)
def test_limits_are_cut_to_what_a_careful_team_would_write(limit: int, cuts: list[int]) -> None:
    assert [flow["max_steps"] for flow in flows("cut_max_steps", max_steps=limit)] == cuts


def test_retries_are_lost_one_node_at_a_time_or_all_at_once() -> None:
    assert flows("disable_retry", retries={"a": 2, "b": 0, "c": 1}) == [
        {"retries": {"a": 0, "b": 0, "c": 1}},
        {"retries": {"a": 2, "b": 0, "c": 0}},
    ]
    assert flows("disable_retry", retries=3) == [{"retries": 0}]
    assert mutants("disable_retry", retries=3)[0].subject == ""
    assert mutants("disable_retry", retries={"a": 1})[0].subject == "a"


def test_every_node_can_be_skipped_but_the_only_one() -> None:
    assert flows("remove_node", nodes=["a", "b"]) == [{"nodes": ["b"]}, {"nodes": ["a"]}]
    assert flows("remove_node", nodes=["a"], edges=[["__start__", "a"]]) == []
    assert flows("remove_node", nodes=["hook"]) == [{"nodes": []}]  # the rest of the flow is not known


def test_edges_to_the_end_stay() -> None:
    assert edges("remove_edge", "__start__ a", "a b", "b __end__") == [
        ["a b", "b __end__"],
        ["__start__ a", "b __end__"],
    ]
    subjects = [mutant.subject for mutant in mutants("remove_edge", edges=[["__start__", "a"], ["a", "b"]])]
    assert subjects == ["", "a"]


def test_each_label_leads_where_the_next_different_one_does() -> None:
    ends = {"x": "one", "y": "one", "z": "two", "/end": "__end__"}
    found = flows("reroute_branch", branches=[{"source": "a", "name": "route", "ends": ends}])
    assert [flow["branches"][0]["ends"] for flow in found] == [
        {**ends, "x": "two"},
        {**ends, "y": "two"},
        {**ends, "z": "__end__"},
        {**ends, "/end": "one"},
    ]
    one_way = {"source": "a", "name": "route", "ends": {"x": "one", "y": "one"}}
    assert flows("reroute_branch", branches=[one_way]) == []


def test_hand_offs_are_dropped_and_misdirected_by_name() -> None:
    handoffs = {
        "triage": {"to_billing": "billing", "to_tech": "tech"},
        "tech": {"back": "triage", "done": "__end__"},
    }
    nodes = ["triage", "billing", "tech"]
    dropped = [flow["handoffs"] for flow in flows("drop_handoff", handoffs=handoffs)]
    assert dropped == [
        {**handoffs, "triage": {"to_tech": "tech"}},
        {**handoffs, "triage": {"to_billing": "billing"}},
        {**handoffs, "tech": {"done": "__end__"}},
    ]
    misdirected = [flow["handoffs"] for flow in flows("misdirect_handoff", nodes=nodes, handoffs=handoffs)]
    assert misdirected == [
        {**handoffs, "triage": {"to_billing": "tech", "to_tech": "tech"}},
        {**handoffs, "triage": {"to_billing": "billing", "to_tech": "billing"}},
        {**handoffs, "tech": {"back": "billing", "done": "__end__"}},
    ]


def test_each_key_is_withheld_from_each_node() -> None:
    assert flows("drop_state", state={"a": ["x", "y"], "b": ["x"]}) == [
        {"state": {"a": ["y"], "b": ["x"]}},
        {"state": {"a": ["x"], "b": ["x"]}},
        {"state": {"a": ["x", "y"], "b": []}},
    ]


def test_neighbours_trade_places_with_all_that_leads_to_them() -> None:
    assert edges("swap_agents", "__start__ a", "a b", "b c", "c __end__") == [
        ["__start__ b", "b a", "a c", "c __end__"],
        ["__start__ a", "a c", "c b", "b __end__"],
    ]
    (swapped,) = flows(
        "swap_agents",
        edges=[["x", "a"], ["a", "b"], ["b", "__end__"]],
        branches=[{"source": "x", "name": "r", "ends": {"go": "a", "stop": "__end__"}}],
        handoffs={"y": {"to_a": "a"}},
    )
    assert swapped["edges"] == [["x", "b"], ["b", "a"], ["a", "__end__"]]
    assert swapped["branches"][0]["ends"] == {"go": "b", "stop": "__end__"}
    assert swapped["handoffs"] == {"y": {"to_a": "b"}}


@pytest.mark.parametrize(
    "flow",
    [
        {"edges": [["a", "b"], ["a", "c"]]},
        {"edges": [["a", "b"], ["x", "b"]]},
        {"edges": [["a", "x", "b"]]},
        {"edges": [["a", "a"]]},
        {"edges": [["__start__", "a"], ["a", "__end__"]]},
        {"edges": [["a", "b"]], "handoffs": {"b": {"to_c": "c"}}},
        {"edges": [["a", "b"]], "branches": [{"source": "x", "name": "r", "ends": {"l": "b"}}]},
    ],
)
def test_nodes_that_are_no_plain_stretch_are_not_swapped(flow: dict[str, Any]) -> None:
    assert flows("swap_agents", **flow) == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["s a", "s b", "a j", "b j"], ["s a", "a b", "b j"]),
        (["s a", "s b", "s c", "a j", "b j", "c j"], ["s a", "a b", "b c", "c j"]),
        (["s a", "s b", "a b j"], ["s a", "a b", "b j"]),
        (["s a", "s b", "s c", "a j", "b j", "c k"], ["s a", "a b", "s c", "b j", "c k"]),
        (["__start__ a", "__start__ b", "a __end__", "b __end__"], ["__start__ a", "a b", "b __end__"]),
    ],
)
def test_branches_side_by_side_run_one_after_the_other(given: list[str], expected: list[str]) -> None:
    assert edges("serialise_branches", *given) == [expected]


@pytest.mark.parametrize(
    "given",
    [
        ["s a", "a j"],
        ["s a", "s b", "a j", "b k"],
        ["s a", "s b", "x b", "a j", "b j"],
        ["s a", "s b", "a c j", "b c j"],
        ["s a", "s b", "a s", "b s"],
        ["s a", "s b", "a b x j"],
    ],
)
def test_branches_that_do_not_meet_again_are_left_alone(given: list[str]) -> None:
    assert edges("serialise_branches", *given) == []


def test_keys_that_are_the_users_own_change_nothing() -> None:
    for name in OPERATORS:
        assert mutants(name, routing={"retries": "many"}, max_turns=4) == ()


def test_a_flow_is_read_and_a_malformed_one_is_explained() -> None:
    flow = Flow.from_orchestration({"retries": {"a": 2}, "edges": [["a", "b", "c"]], "mine": None})
    assert (flow.retries_of("a"), flow.retries_of("b")) == (2, 0)
    assert flow.edges == (("a", "b", "c"),)
    assert Flow.from_orchestration({"retries": 3}).retries_of("a") == 3
    with pytest.raises(
        UsageError, match=r"^orchestration\.edges\.1 is malformed: each is a list of two names"
    ):
        Flow.from_orchestration({"edges": [["a", "b"], ["c"]]})
    with pytest.raises(UsageError, match=r"^orchestration\.max_steps is .* 25; orchestration\.nodes is"):
        Flow.from_orchestration({"max_steps": 0, "nodes": "a"})


def test_an_operator_says_what_the_flow_lacks() -> None:
    def reason(orchestration: dict[str, Any]) -> str:
        config = AgentConfig(orchestration=orchestration)
        (empty,) = generate(config, [OPERATORS["reroute_branch"]], OperatorOptions()).empty
        return empty.reason.removeprefix(
            "no mutants of orchestration.reroute_branch, because the agent has no "
        )

    assert reason({"nodes": ["a", "b"]}) == "branches that its adapter can change"
    limits = {"retries": 2, "max_steps": 9}
    assert reason(limits) == "hand-offs, nodes or edges that its adapter can change"
    assert reason({"max_steps": 9}) == "hand-offs, nodes, edges or retries that its adapter can change"


NAMES = st.sampled_from(["__start__", "a", "b", "c", "d/e", "~", "__end__"])
SOME = st.lists(NAMES, unique=True, max_size=5)
FLOWS = st.fixed_dictionaries(
    {
        "max_steps": st.integers(1, 50),
        "nodes": SOME,
        "edges": st.lists(st.lists(NAMES, min_size=2, max_size=4, unique=True), max_size=8, unique_by=tuple),
        "branches": st.lists(
            st.fixed_dictionaries(
                {"source": NAMES, "name": st.just("r"), "ends": st.dictionaries(NAMES, NAMES)}
            ),
            max_size=2,
            unique_by=lambda branch: str(branch["source"]),
        ),
        "handoffs": st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES), max_size=2),
        "retries": st.dictionaries(NAMES, st.integers(0, 3)),
        "state": st.dictionaries(NAMES, SOME),
    }
)


@settings(deadline=None, max_examples=60)
@given(FLOWS)
def test_mutants_of_any_flow_fit_change_it_and_leave_a_flow(flow: dict[str, Any]) -> None:
    config = AgentConfig(orchestration=flow)
    generation = generate(config, OPERATORS.values(), OperatorOptions())
    assert generation == generate(config, OPERATORS.values(), OperatorOptions())
    assert not [dropped for dropped in generation.dropped if "does not fit" in dropped.reason]
    for mutant in generation.mutants:
        mutated = mutant.apply(config)
        assert mutated != config
        Flow.from_orchestration(mutated.orchestration)


@settings(deadline=None, max_examples=30)
@given(FLOWS)
def test_ids_survive_changes_elsewhere_in_the_flow(flow: dict[str, Any]) -> None:
    more = {
        **flow,
        "nodes": ["first", *flow["nodes"]],
        "edges": [["first", "alone"], *flow["edges"]],
        "state": {"first": ["x"], **flow["state"]},
    }
    for name in ("remove_node", "remove_edge", "drop_state", "reroute_branch"):
        assert {m.id for m in mutants(name, **flow)} <= {m.id for m in mutants(name, **more)}


def test_a_limit_that_nobody_set_is_not_shown_as_a_number() -> None:
    def said(limit: int) -> list[str]:
        config = AgentConfig(orchestration={"max_steps": limit})
        generation = generate(config, [OPERATORS["cut_max_steps"]], OperatorOptions())
        return [mutant.description for mutant in generation.mutants]

    assert said(10007)[0] == "stop a run after 10 steps instead of the framework's own limit"
    assert said(25)[0] == "stop a run after 10 steps instead of 25"
