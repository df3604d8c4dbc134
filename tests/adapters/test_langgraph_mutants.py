"""Mutants of real LangGraph agents that are built from the mutated config, as the model service sees them."""

from typing import Any

import pytest

from agentmut.adapters.langgraph import bind_tools
from agentmut.mutation.generation import generate
from agentmut.nouns.config import ModelConfig
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.witness.witness import Detector, Route
from tests.adapters.langgraph_agents import (
    CONFIG,
    HONEST,
    TOOLS,
    Factory,
    by_create_agent,
    by_middleware,
    look_up,
    run,
    slow,
)


def prompt_at_import(url: str) -> Factory:
    return lambda config: by_create_agent(url)(CONFIG)


CATALOGUE = Catalogue.from_group("operators")

REBUILT = (
    "prompt.drop_instruction", "prompt.reorder_instructions", "prompt.inject_noise", "prompt.synonym",
    "tool.remove", "tool.reorder", "tool.mislead_description", "model.swap", "model.downgrade",
    "context.truncate", "context.inject_noise", "context.permute",
)  # fmt: skip

OPERATORS: list[Operator] = [CATALOGUE.load(name)() for name in REBUILT]

OPTIONS = OperatorOptions(swap_models=("sim-medium",), downgrade_models=("sim-small",))

MUTANTS = generate(CONFIG, OPERATORS, OPTIONS).mutants


def test_every_operator_has_a_mutant_here() -> None:
    assert {mutant.operator for mutant in MUTANTS} == {operator.id for operator in OPERATORS}


@pytest.mark.parametrize("make", HONEST)
def test_every_mutation_reaches_the_service_and_is_witnessed(make: Any, service: Any) -> None:
    for mutant in MUTANTS:
        service.requests.clear()
        mutated = mutant.apply(CONFIG)
        execution = run(make(service.url), config=mutated)
        (received,) = service.requests
        assert received.system_text == mutated.system_text(), mutant.description
        offered = [(found.name, found.description) for found in received.tools]
        assert offered == [(found.name, found.description) for found in mutated.tools], mutant.description
        assert (received.model, received.temperature) == (mutated.model.name, mutated.model.temperature)
        witness = Detector(mutant, CONFIG).witness(execution.footprint)
        assert witness is not None, mutant.description
        assert (witness.route, witness.seen) == (Route.SENT, len(mutant.edits))
    assert all(header["x-agentmut-trial"] == "t1" for header in service.headers)


def test_a_factory_that_ignores_its_config_gives_no_witness(service: Any) -> None:
    original = run(prompt_at_import(service.url))
    for mutant in MUTANTS:
        execution = run(prompt_at_import(service.url), config=mutant.apply(CONFIG))
        detector = Detector(mutant, CONFIG)
        assert detector.witness(execution.footprint) is None, mutant.description
        assert detector.carried(original.footprint), mutant.description


@pytest.mark.parametrize("make", [by_create_agent, by_middleware])
def test_temperature_and_other_parameters_arrive(make: Any, service: Any) -> None:
    parameters = ModelConfig(name="sim-small", temperature=1.5, top_p=0.5, max_tokens=77, seed=3)
    run(by_middleware(service.url), config=CONFIG.model_copy(update={"model": parameters}))
    (received,) = service.requests
    assert (received.temperature, received.top_p, received.max_tokens, received.seed) == (1.5, 0.5, 77, 3)


def test_bind_tools_offers_what_the_config_says_and_keeps_the_implementations() -> None:
    spec = CONFIG.tools[0].model_copy(update={"description": "Other words."})
    narrower = CONFIG.model_copy(update={"tools": (CONFIG.tools[1], spec)})
    bound = bind_tools(narrower, TOOLS)
    assert [found.name for found in bound] == ["slow", "look_up"]
    assert bound[0] is slow
    assert bound[1].description == "Other words."
    assert bound[1].invoke({"order": "A"}) == "A of -"
    assert look_up.description == "Look up an order by its number."
