"""Hypothesis strategies for property tests of agents: arguments of tools, inputs, traces.

```python
from hypothesis import given
from agentmut import strategies

@given(strategies.tool_arguments(issue_refund))
def test_a_refund_never_exceeds_the_order(arguments): ...
```
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from agentmut._base import UsageError
from agentmut.insight import (
    UNUSABLE,
    Turns,
    boundaries_of,
    faults,
    recombinations,
    registered_relations,
    substitutions,
    texts,
    transformations,
    values_of,
)
from agentmut.nouns import Action, AgentConfig, AgentTrace, Scenario, Step, ToolSpec, read_tool
from agentmut.seams import Relation

__all__ = ["agent_traces", "boundary_arguments", "inputs", "tool_arguments"]

Arguments = SearchStrategy[dict[str, Any]]


def tool_arguments(tool: Any) -> Arguments:
    """Return arguments that the tool's JSON Schema allows: bounds, enumerations, lists, nested objects, optional
    parameters.

    `tool` is whatever agentmut reads a tool from: a function, a pydantic model, a LangChain tool, a mapping in the
    form of OpenAI, Anthropic or MCP. Raises `UsageError` for anything else, and for a schema that allows nothing or
    that Python cannot read, as patterns of JavaScript. Does not promise to reach every valid
    value: what nothing bounds stays short and near zero.
    """
    return _usable(read_tool(tool), values_of)


def boundary_arguments(tool: Any) -> Arguments:
    """Draw valid arguments of which one is at a limit of the schema, or left out where it may be.

    Limits are the least and greatest number, the shortest and longest string or list, and each value of an
    enumeration; an empty string is one only where the schema limits the length. Raises `UsageError` for what is no
    tool, `ValueError` for a tool whose schema has no limits.
    """
    spec = read_tool(tool)
    found = _usable(spec, boundaries_of)
    if found.is_empty:
        raise ValueError(
            f"the schema of tool {spec.name!r} has no limits: no parameter is bounded, enumerated or optional. Use "
            "tool_arguments for ordinary values."
        )
    return found


def inputs(scenarios: Sequence[Scenario], config: AgentConfig | None = None) -> SearchStrategy[Turns]:
    """Return the user's side of conversations near those of a suite, one entry a turn.

    Sentences of several scenarios put together, figures, identifiers and dates at their limits, and what the
    registered relations would ask instead; `config` is what relations are asked about. Raises `ValueError` without
    scenarios.
    """
    if not scenarios:
        raise ValueError("scenarios must hold at least one scenario, which inputs are made from.")
    relations, about = registered_relations(), config or AgentConfig()

    def related(scenario: Scenario, relation: Relation, seed: int) -> list[Turns]:
        found = transformations(scenario, about, AgentTrace(), [relation], seed)
        return [turns for turns, _ in found]

    single = [" ".join(texts(s.turns)) for s in scenarios if len(s.turns) == 1]
    together = [(text,) for text in dict.fromkeys(recombinations(single))]
    figures = [
        (*texts(s.turns[:place]), changed, *texts(s.turns[place + 1 :]))
        for s in scenarios
        for place, turn in enumerate(texts(s.turns))
        for changed in substitutions(turn)
    ]
    own = st.sampled_from([scenario.turns for scenario in scenarios])
    scenario, relation = st.sampled_from(list(scenarios)), st.sampled_from(relations)
    transformed = st.builds(related, scenario, relation, st.integers(0, 2**16)).flatmap(
        lambda found: st.sampled_from(found) if found else own
    )
    made = [st.sampled_from(found) for found in (together, figures) if found]
    return st.one_of([own, *made, *([transformed] if relations else [])])


def agent_traces(tools: Sequence[Any] = (), most_calls: int = 5) -> SearchStrategy[AgentTrace]:
    """Draw runs that an agent with these tools could make, for property tests of evaluators and relations.

    Each calls at most `most_calls` tools, with valid arguments, and answers with a text.
    """
    specs = [read_tool(tool) for tool in tools]
    outputs = st.recursive(
        st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=4,
    )
    calls = [
        st.builds(Step, action=st.just(Action.CALL_TOOL), tool=st.just(spec.name),
                  arguments=_usable(spec, values_of), output=outputs)
        for spec in specs
    ]  # fmt: skip
    steps = st.lists(st.one_of(calls), max_size=most_calls) if calls else st.just([])
    return st.builds(_trace, steps, st.text(min_size=1, max_size=200))


def _usable(spec: ToolSpec, made: Callable[[Mapping[str, Any]], Arguments]) -> Arguments:
    fault = next(faults(spec.parameters), "")
    try:
        strategy = made(spec.parameters)
        strategy.validate()
    except (InvalidArgument, *UNUSABLE) as error:
        fault = fault or str(error)
    if fault:
        raise UsageError(
            f"no arguments can be made for tool {spec.name!r}, by its schema: {fault.rstrip('.')}."
        )
    return strategy


def _trace(calls: Sequence[Step], answer: str) -> AgentTrace:
    answered = Step(action=Action.RESPOND, output=answer)
    return AgentTrace(steps=(*calls, answered), outputs=(answer,))
