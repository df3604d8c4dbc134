"""Settings of the model: which change is made where, and where none is."""

from importlib.metadata import entry_points
from typing import Any

import pytest

from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.mutant import Intent
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.operator import Operator, OperatorOptions

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if entry.name.startswith("model.")
}
TOOLS = (ToolSpec(name="search"),)
NAMED = {"type": "function", "function": {"name": "search"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


def settings(id_: str, *, tools: tuple[ToolSpec, ...] = TOOLS, **model: Any) -> list[Any]:
    """What the operator's mutants set their one setting to."""
    config = AgentConfig(tools=tools, model=ModelConfig(**model))
    found = generate(config, [OPERATORS[f"model.{id_}"]], OperatorOptions()).mutants
    for mutant in found:
        (edit,) = mutant.edits
        changed = mutant.apply(config).model.model_dump()
        before = config.model.model_dump()
        assert [key for key in before if before[key] != changed[key]] == [edit.path[1]]
    return [mutant.apply(config).model.model_dump(mode="json")[mutant.edits[0].path[1]] for mutant in found]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"name": "m", "temperature": 0.2}, [1.5]),
        ({"name": "m", "temperature": 0}, [1.5]),
        ({"name": "m", "temperature": 1.5}, [2.0]),
        ({"name": "m", "temperature": 2}, []),
        ({"name": "m"}, [1.5]),
        ({"name": "o", "reasoning_effort": "low"}, []),
        ({}, []),
        ({"name": "claude-sonnet-4-6", "temperature": 0.3}, [1.0]),
        ({"name": "x", "provider": "anthropic", "temperature": 1.0}, []),
        ({"name": "claude-sonnet-4-6"}, []),
    ],
)
def test_temperature_is_raised_as_far_as_services_take_it(model: Any, expected: list[float]) -> None:
    assert settings("raise_temperature", **model) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"name": "m", "temperature": 0.2}, [0.0]),
        ({"name": "m"}, [0.0]),
        ({"name": "m", "temperature": 0}, []),
        ({"name": "o", "reasoning_effort": "low"}, []),
        ({}, []),
    ],
)
def test_temperature_is_lowered_to_nothing(model: Any, expected: list[float]) -> None:
    assert settings("lower_temperature", **model) == expected


def test_top_p_is_widened_only_where_it_was_narrowed() -> None:
    assert settings("change_top_p", name="m", top_p=0.4) == [1.0]
    assert settings("change_top_p", name="m", top_p=1) == settings("change_top_p", name="m") == []


@pytest.mark.parametrize(
    ("limit", "expected"), [(800, [200]), (65, [16]), (17, [16]), (16, []), (4, []), (None, [64])]
)
def test_answers_are_cut_to_a_quarter_of_their_limit(limit: int | None, expected: list[int]) -> None:
    assert settings("cut_max_tokens", name="m", max_tokens=limit) == expected


def test_a_tool_choice_is_dropped_where_it_asks_for_something() -> None:
    assert settings("drop_tool_choice", name="m", tool_choice="required") == [None]
    assert settings("drop_tool_choice", name="m", tool_choice=NAMED) == [None]
    assert settings("drop_tool_choice", name="m", tool_choice="auto") == []
    assert settings("drop_tool_choice", name="m") == []
    assert settings("drop_tool_choice", name="m", tool_choice="required", tools=()) == []


def test_a_response_format_is_dropped_unless_it_is_text() -> None:
    assert settings("drop_response_format", name="m", response_format=SCHEMA) == [None]
    assert settings("drop_response_format", name="m", response_format={"type": "text"}) == []


def test_a_seed_is_dropped_even_if_it_is_nought() -> None:
    assert settings("drop_seed", name="m", seed=0) == [None]
    assert settings("drop_seed", name="m") == []


@pytest.mark.parametrize(
    ("effort", "expected"),
    [
        ("xhigh", ["high", "low"]),
        ("high", ["medium", "low"]),
        ("medium", ["low"]),
        ("low", ["minimal"]),
        ("minimal", ["none"]),
        ("none", []),
        ("utmost", []),
        (None, []),
    ],
)
def test_effort_is_reduced_by_a_step_and_to_low(effort: str | None, expected: list[str]) -> None:
    assert settings("reduce_reasoning_effort", name="m", reasoning_effort=effort) == expected


def test_a_stop_sequence_is_added_to_those_that_are_there() -> None:
    assert settings("add_stop_sequence", name="m", stop=("END",)) == [["END", "\n\n"]]
    assert settings("add_stop_sequence", name="m") == [["\n\n"]]
    assert settings("add_stop_sequence", name="m", stop=("\n\n",)) == []
    assert settings("add_stop_sequence", name="m", stop=("a", "b", "c", "d")) == []
    assert settings("add_stop_sequence", name="claude-haiku-4-5") == []


def test_what_an_agent_should_not_depend_on_counts_as_robustness() -> None:
    preserving = {id_ for id_, found in OPERATORS.items() if found.intent is Intent.PRESERVE}
    assert preserving == {"model.lower_temperature", "model.drop_seed"}


def test_an_operator_without_a_setting_says_what_is_missing() -> None:
    generation = generate(
        AgentConfig(model=ModelConfig(name="m")), [OPERATORS["model.drop_seed"]], OperatorOptions()
    )
    ((_, reason),) = generation.empty
    assert reason.endswith("because model.seed is not set")


def test_ids_do_not_depend_on_other_settings() -> None:
    def ids(**model: Any) -> set[str]:
        config = AgentConfig(tools=TOOLS, model=ModelConfig(name="m", **model))
        return {mutant.id for mutant in generate(config, OPERATORS.values(), OperatorOptions()).mutants}

    assert ids(temperature=0.5, max_tokens=80) <= ids(temperature=0.9, max_tokens=80, seed=3, top_p=0.5)
