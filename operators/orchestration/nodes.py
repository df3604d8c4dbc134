"""Operators that skip a node, or drop a part of the state that it gets."""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, Flow, Reach
from agentmut.operators.orchestration.flows import flow_edit, flow_example
from agentmut.seams import OperatorOptions, operator


@operator(
    "orchestration.remove_node",
    why="A step is taken out for speed or in a refactoring, and the others go on as if it had run.",
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"nodes": ["draft", "review"], "edges": [["draft", "review"]]},
            {"nodes": ["review"], "edges": [["draft", "review"]]},
        )
    ],
    lack="the agent has no nodes that its adapter can take out",
)
def remove_node(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per node: it is skipped, and what leads to it goes on to what follows it.

    The only node of a flow stays: nothing would be left of the agent.
    """
    flow = Flow.from_orchestration(config.orchestration)
    if len(flow.nodes) == 1 and flow.edges:
        return
    for index, node in enumerate(flow.nodes):
        yield Candidate(
            edits=(flow_edit("nodes", index, before=node, after=None),),
            description=f"skip the node {node}",
            anchor=node,
            subject=node,
        )


@operator(
    "orchestration.drop_state",
    why="A key of the state is renamed or filtered out, and a node works without what came before.",
    reach=Reach.RAN,
    examples=[flow_example({"state": {"answer": ["notes", "order"]}}, {"state": {"answer": ["order"]}})],
    lack="it is not known what the agent's nodes are passed",
)
def drop_state(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per node and key of the state it is passed: the node does without that key."""
    for node, keys in Flow.from_orchestration(config.orchestration).state.items():
        for index, key in enumerate(keys):
            yield Candidate(
                edits=(flow_edit("state", node, index, before=key, after=None),),
                description=f"do not pass {key} to the node {node}",
                anchor=f"{node}: {key}",
                subject=node,
            )
