"""A setting for which an API has no word: its mutant is not applied, and never a survivor."""

from typing import Any

import pytest

from agentmut.adapters.anthropic import AnthropicAdapter
from agentmut.adapters.openai import OpenAIAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.mutant import Edit, Mutant, Status
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.trial.on_wire import routed
from agentmut.usecases.campaigns import measure

AGENT = """
import anthropic

async def run(config, input):
    http = anthropic.DefaultAsyncHttpxClient(verify=False)
    async with anthropic.AsyncAnthropic(api_key="k", max_retries=0, http_client=http) as client:
        said = [{"role": "user", "content": input}]
        reply = await client.messages.create(
            model="sim-large", max_tokens=100, system=config.system_text(), messages=said
        )
    return reply.content[0].text
"""
CONFIG = AgentConfig(prompt="Be kind.", model=ModelConfig(name="sim-large", seed=7, temperature=0.5))


@pytest.mark.whole
@pytest.mark.parametrize("route", ["rebuild", "wire"])
def test_a_seed_that_is_never_sent_is_not_applied(
    route: str, projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects.write(
        ("alpha",), agent=AGENT, mutation={"operators": ["model.drop_seed"]},
        agent_section={"route": route, "config": {"prompt": "prompt.md", "model": {"name": "sim-large", "seed": 7}}},
        statistics={"baseline": 10, "n_max": 40},
    )  # fmt: skip
    (projects.folder / "prompt.md").write_text('- End every answer with "alpha".\n')
    project = projects.load()
    with Simulator(read_settings(seed=1)) as simulator:
        for name, value in simulator.environment.items():
            monkeypatch.setenv(name, value)
        (row,) = measure(project).mutants
    assert row.status is Status.NOT_APPLIED
    assert "no request has a seed" in row.reason


def drop_seed() -> Mutant:
    (mutant,) = generate(
        CONFIG, [Catalogue.from_group("operators").load("model.drop_seed")()], OperatorOptions()
    ).mutants
    return mutant


def test_an_adapter_that_knows_the_api_says_so_before_anything_is_run(projects: Any) -> None:
    projects.write_agent(AGENT)
    section: Any = {
        "adapter": "x",
        "run": f"{projects.module}:run",
        "root": str(projects.folder),
        "route": "wire",
    }
    claude = routed(AnthropicAdapter.create(AgentSpec(**section), CONFIG), AgentSpec(**section))
    assert "the Anthropic Messages API has no seed 7" in claude.cannot_express(drop_seed())
    hotter = drop_seed().model_copy(
        update={"edits": (Edit(pointer="/model/temperature", before=0.5, after=0.9),)}
    )
    assert claude.cannot_express(hotter) == ""
    too_hot = hotter.model_copy(
        update={"edits": (Edit(pointer="/model/temperature", before=0.5, after=1.5),)}
    )
    assert "temperatures up to 1" in claude.cannot_express(too_hot)
    chat = routed(OpenAIAdapter.create(AgentSpec(**section), CONFIG), AgentSpec(**section))
    assert chat.cannot_express(drop_seed()) == ""
