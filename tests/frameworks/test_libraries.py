"""Agents of libraries without an adapter of their own, by their model requests: in process, or as programs."""

import enum
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import ToolSpec, read_tool
from examples.libraries.tools import PROMPT, look_up_order
from tests.frameworks.kit import Case, check

pytestmark = pytest.mark.framework
ROOT = Path(__file__).parents[2]
LIBRARIES: Mapping[str, tuple[str, str]] = {
    "LiteLLM": ("litellm", "litellm_agent"),
    "Strands": ("strands", "strands_agent"),
    "Agno": ("agno", "agno_agent"),
    "Haystack": ("haystack", "haystack_agent"),
    "AG2": ("ag2", "ag2_agent"),
    "DSPy": ("dspy", "dspy_agent"),
}
"""By name: the package that is imported, and the module of the example."""
IN_JAVASCRIPT: Mapping[str, str] = {
    "Anthropic for JavaScript": "anthropic",
    "OpenAI for JavaScript": "openai",
    "Vercel AI SDK": "ai",
    "Mastra": "mastra",
}
"""By name: the example in examples/js_libraries."""
TURNS = ["Where is my order A-1042?"]
TOOL = read_tool(look_up_order)
TOLD_BY_A_PROGRAM = ToolSpec(
    name="look_up_order",
    description="Look up an order by its number.",
    parameters={
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
    },
)


def config(*tools: ToolSpec) -> AgentConfig:
    return AgentConfig(prompt=PROMPT, model=ModelConfig(name="sim-large"), tools=tools)


@pytest.mark.parametrize("name", LIBRARIES)
def test_its_example_is_run_as_the_kit_demands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, module = LIBRARIES[name]
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # LiteLLM asks GitHub for prices otherwise
    if not find_spec(package):
        pytest.skip(f"{package} is not installed in this environment")
    in_text = name == "DSPy"  # its tools and its calls are words of prompt and answer
    case = Case(
        "python",
        name,
        "",
        TURNS,
        [] if in_text else ["look_up_order"],
        config=config() if in_text else config(TOOL),
        except_for={}
        if in_text
        else {"doubles": "the tool is a plain function that agentmut.tool does not mark"},
        others={"run": f"examples.libraries.{module}:run"},
    )
    check(case)


@pytest.mark.parametrize("form", ["ChatAdapter", "JSONAdapter", "XMLAdapter"])
def test_each_form_of_dspy_is_parsed_without_its_fallback(
    form: str, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    dspy = pytest.importorskip("dspy", reason="dspy is not installed in this environment")
    own = {} if form == "JSONAdapter" else {"use_json_adapter_fallback": False}
    model = dspy.LM("openai/sim-large", cache=False, api_base=f"{simulator_url}/v1", api_key="none")
    fields = "request -> urgent: bool, stars: int, names: list[str], counts: dict[str, int], answer"
    with dspy.context(lm=model, adapter=getattr(dspy, form)(**own)):
        sorted_ = dspy.Predict(dspy.Signature(fields, PROMPT))(request="It is <b>urgent</b> & late")
        found = dspy.ReAct(dspy.Signature("request -> answer", PROMPT), tools=[look_up_order], max_iters=5)(
            request=TURNS[0]
        )
    kinds = [type(sorted_[name]) for name in ("urgent", "stars", "names", "counts", "answer")]
    assert kinds == [bool, int, list, dict, str]
    assert found.trajectory["tool_args_0"] == {"order_id": "A-1042"}
    assert "delivered on Monday" in found.answer


class Mood(enum.Enum):
    GLAD = "glad"
    SAD = "sad"


class Address(BaseModel):
    city: str
    floors: list[int]


class Person(BaseModel):
    name: str
    vip: bool
    mood: Mood
    address: Address


class Parcel(BaseModel):
    state: Literal["late", "lost"]
    moods: list[Mood]


@pytest.mark.parametrize("form", ["ChatAdapter", "JSONAdapter", "XMLAdapter"])
def test_nested_models_and_enums_of_dspy_are_kept(
    form: str, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    dspy = pytest.importorskip("dspy", reason="dspy is not installed in this environment")
    model = dspy.LM("openai/sim-large", cache=False, api_base=f"{simulator_url}/v1", api_key="none")
    own = {} if form == "JSONAdapter" else {"use_json_adapter_fallback": False}
    told = {"mood": Mood, "moods": list[Mood], "kinds": list[Literal["new", "old"]], "people": list[Person]}
    untold = {"parcel": Parcel}  # its words are in no field of XML: DSPy asks again, with a schema

    def asked(fields: dict[str, Any], **options: Any) -> Any:
        kinds = {name: (kind, dspy.OutputField()) for name, kind in fields.items()}
        signature = dspy.Signature({"request": (str, dspy.InputField()), **kinds}, PROMPT)
        with dspy.context(lm=model, adapter=getattr(dspy, form)(**options)):
            return dspy.Predict(signature)(request="It is late")

    found = asked(told, **own)
    assert isinstance(found.mood, Mood) and {type(mood) for mood in found.moods} == {Mood}
    assert set(found.kinds) <= {"new", "old"} and {type(one) for one in found.people} == {Person}
    assert isinstance(asked(untold).parcel, Parcel)


def check_program(name: str, command: list[str], tool: ToolSpec = TOLD_BY_A_PROGRAM) -> None:
    case = Case(
        "command",
        name,
        "",
        TURNS,
        [tool.name],
        config=config(tool),
        except_for={"doubles": "the tool is a function of the program"},
        at_once=3,
        others={"command": command, "root": str(ROOT)},
    )
    check(case)


@pytest.mark.parametrize("name", IN_JAVASCRIPT)
def test_its_example_in_javascript_is_run_as_the_kit_demands(name: str) -> None:
    folder = ROOT / "examples" / "js_libraries"
    if not (shutil.which("node") and (folder / "node_modules").is_dir()):
        pytest.skip("needs node, and `npm ci` in examples/js_libraries")
    check_program(name, ["node", f"examples/js_libraries/{IN_JAVASCRIPT[name]}.mjs", "{input}"])


def test_the_claude_agent_sdk_is_run_as_the_kit_demands() -> None:
    if not find_spec("claude_agent_sdk"):
        pytest.skip("claude_agent_sdk is not installed in this environment")
    tool = TOLD_BY_A_PROGRAM.model_copy(update={"name": "mcp__desk__look_up_order"})
    command = [sys.executable, "-m", "examples.libraries.claude_agent", "{input}"]
    check_program("Claude Agent SDK", command, tool)
