"""Agents of libraries without an adapter of their own, by the adapter `python` and their model requests."""

from collections.abc import Mapping
from importlib.util import find_spec

import pytest

from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import read_tool
from examples.libraries.tools import PROMPT, look_up_order
from tests.frameworks.kit import Case, check

pytestmark = pytest.mark.framework
LIBRARIES: Mapping[str, tuple[str, str]] = {
    "LiteLLM": ("litellm", "litellm_agent"),
    "Strands": ("strands", "strands_agent"),
    "Agno": ("agno", "agno_agent"),
    "Haystack": ("haystack", "haystack_agent"),
    "AG2": ("ag2", "ag2_agent"),
}
"""By name: the package that is imported, and the module of the example."""
DESK = AgentConfig(prompt=PROMPT, model=ModelConfig(name="sim-large"), tools=(read_tool(look_up_order),))


@pytest.mark.parametrize("name", LIBRARIES)
def test_its_example_is_run_as_the_kit_demands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, module = LIBRARIES[name]
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # LiteLLM asks GitHub for prices otherwise
    if not find_spec(package):
        pytest.skip(f"{package} is not installed in this environment")
    turns, others = ["Where is my order A-1042?"], {"run": f"examples.libraries.{module}:run"}
    case = Case(
        "python",
        name,
        "",
        turns,
        ["look_up_order"],
        config=DESK,
        except_for={"doubles": "the tool is a plain function that agentmut.tool does not mark"},
        others=others,
    )
    check(case)
