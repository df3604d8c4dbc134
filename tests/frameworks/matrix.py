"""docs/frameworks.md from what the kit found: `python -m tests.frameworks.matrix > docs/frameworks.md`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.frameworks.kit import FOUND

CLASSES = ("prompt", "tool", "model", "context", "orchestration")
Cases = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By the name of the agent and the operator class: what was `delivered`, and what was `refused`."""
GUIDES = {
    "langgraph": ("LangGraph", "langgraph.md", "langgraph"),
    "langgraph_remote": ("LangGraph servers", "langgraph.md#graphs-on-a-server", "langgraph"),
    "openai": ("OpenAI SDK", "openai.md", "openai"),
    "anthropic": ("Anthropic SDK", "anthropic.md", "anthropic"),
    "python": ("Any Python callable", "callable.md", ""),
    "command": ("Programs in any language", "programs.md", ""),
    "autogen": ("AutoGen", "autogen.md", "autogen"),
    "bedrock": ("Amazon Bedrock, Converse", "bedrock.md", "bedrock"),
    "bedrock_agents": ("Amazon Bedrock Agents", "bedrock.md", "bedrock"),
    "crewai": ("CrewAI", "crewai.md", "crewai"),
    "google_adk": ("Google ADK", "google-adk.md", "google-adk"),
    "llama_index": ("LlamaIndex", "llama_index.md", "llama-index"),
    "mcp": ("MCP servers", "mcp.md", "mcp"),
    "openai_agents": ("OpenAI Agents SDK", "openai_agents.md", "openai-agents"),
    "pydantic_ai": ("pydantic-ai", "pydantic_ai.md", "pydantic-ai"),
    "semantic_kernel": ("Semantic Kernel", "semantic_kernel.md", "semantic-kernel"),
    "smolagents": ("smolagents", "smolagents.md", "smolagents"),
    "vertex_agent_engine": ("Vertex AI agent engines", "google-adk.md#deployed-agent-engines", "google-adk"),
}
"""By adapter: what it is for, the page about it, and the extra that installs what it needs, if anything."""
HEAD = """# Frameworks

Made by `make frameworks`; do not edit.

Install the extra of your framework, as in `pip install -e '/path/to/agentmut[openai-agents]'`. CrewAI, Semantic Kernel
and LlamaIndex need versions of packages that others do not take: give them an environment of their own. Then write a
project that runs as it is, and try it without a key, against the [simulator](simulator.md):

```sh
agentmut init --framework openai_agents
agentmut simulate -- agentmut mutants
agentmut simulate -- agentmut run --operator prompt.drop_instruction --yes
```

The page of an adapter says what is changed in an agent and how, what is not, and what to beware of.

Each trial has an agent and a conversation of its own. Variables of a module, and objects that `agent.factory` does not
build, are shared by all trials: what is kept there makes trials depend on each other, which agentmut cannot
see. `agentmut doctor` says so where it reaches a model request. An agent that no adapter can run, or that only streams,
can be measured by its model requests: adapter [python](callable.md) with `agent.run`, and [`route: wire`](wire.md).
`examples/libraries` has such agents on LiteLLM, Strands, Agno, Haystack, AG2 and DSPy. Each example for a library has
at most 30 lines of code, without blank lines, comments and docstrings. Calls of a tool can be doubled there only where
`agentmut.tool` marks its function. DSPy's tools are words of its instructions, and no tools of
a request: operators of prompts change them once `agentmut doctor --save-request` has written the instructions down.

The adapter [command](programs.md) measures what makes its requests in a program of its own. Tried are the Claude Agent
SDK (`examples/libraries/claude_agent.py`), Vercel AI SDK, Mastra, and the packages of Anthropic and OpenAI for
JavaScript (`examples/js_libraries`, after `npm ci`). The AI SDK and Mastra speak the Responses API unless the model is
made with `.chat`; that API has no stop sequences, so mutants with one do not arrive there. Mastra's package asks for
Node 22; its example was tried on Node 20.
"""
MATRIX = """## Which mutants arrive

Each row is an agent of a framework that was run against the simulator by the conformance kit
(`agentmut.testing.check_adapter`, 30 runs at once, programs 3).

- `delivered`: mutants of this [class of operators](operators.md) were seen to arrive there: in the requests that the
  simulator was sent, or in what was done. Mutants of the orchestration made the run take another course.
- `refused`: they cannot be expressed. They are left out with a reason and never count in a score.
- `-`: this agent has nothing of the kind.
"""


def _classes(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name in CLASSES:
        one = found.get(name, {})
        if one.get("delivered"):
            yield "delivered, but for [some](#refused)" if one.get("refused") else "delivered"
        else:
            yield "[refused](#refused)" if one.get("refused") else "-"


def _guides() -> Iterator[str]:
    yield "| for | adapter | extra |"
    yield "| --- | --- | --- |"
    for adapter, (title, guide, extra) in GUIDES.items():
        yield f"| [{title}]({guide}) | `{adapter}` | {f'`{extra}`' if extra else 'none'} |"


def _rows(frameworks: Mapping[str, Cases]) -> Iterator[str]:
    yield f"| adapter | agent | {' | '.join(CLASSES)} |"
    yield "| --- | --- |" + " --- |" * len(CLASSES)
    for framework, cases in frameworks.items():
        for name, found in cases.items():
            yield f"| `{framework}` | {name} | {' | '.join(_classes(found))} |"


def _refusals(frameworks: Mapping[str, Cases]) -> Iterator[str]:
    """Each reason once, with the operators that it keeps out."""
    for framework, cases in frameworks.items():
        reasons: dict[str, dict[str, None]] = {}
        for found in cases.values():
            for one in found.values():
                for operator, reason in one["refused"].items():
                    reasons.setdefault(reason, {})[operator] = None
        for reason, operators in reasons.items():
            yield f"- `{framework}`: {', '.join(f'`{name}`' for name in operators)}: {reason}"


def page(folder: Path) -> str:
    """The page for what the kit has left in a folder."""
    frameworks = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    said = "Operators none of whose mutants could be expressed for one of these agents, with the adapter's reason:"
    parts = [
        HEAD,
        *_guides(),
        "",
        MATRIX,
        *_rows(frameworks),
        "",
        "## Refused",
        "",
        said,
        "",
        *_refusals(frameworks),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(FOUND), end="")
