"""All mutants of realistic agents, as they are listed: what a change of an operator changes is seen here.

`UPDATE_SNAPSHOTS=1 pytest tests/operators/test_corpus.py` writes them anew; read the difference.
"""

import os
from pathlib import Path

import pytest

from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.mutant import Mutant
from agentmut.project.parts import read_tools
from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions

DATA = Path(__file__).parents[1] / "testdata"
AGENTS = {
    "analyst": ("analyst_paragraphs.txt", "one_tool.json"),
    "booking": ("booking_xml.txt", "calendar_nested.json"),
    "claims": ("claims_xml.txt", "clinic.yaml"),
    "classifier": ("classifier_fewshot.txt", "tickets.json"),
    "coder": ("coder_tables.md", "coding_anthropic.json"),
    "hotel_french": ("hotel_french.md", "home.json"),
    "legal": ("legal_capitals.txt", "bank.yaml"),
    "newsletter": ("newsletter_loop.j2", "research.json"),
    "recruiter": ("recruiter_paragraph.txt", "calendar_nested.json"),
    "travel_german": ("reisen_german.md", "travel_openai_responses.json"),
    "support": ("support_markdown.md", "shop_openai_chat.json"),
    "triage": ("triage_lines.txt", "bare_names.json"),
    "tutor": ("tutor_template.j2", "files_mcp.json"),
    "warehouse": ("warehouse_sop.md", "tickets.json"),
}
OPTIONS = OperatorOptions(swap_models=("other-large",), downgrade_models=("small",))
MODEL = ModelConfig(
    name="large", temperature=0.7, top_p=0.9, max_tokens=800, seed=7, reasoning_effort="high",
    tool_choice="required", response_format={"type": "json_object"},
)  # fmt: skip
DOCUMENTS = (
    Document(
        name="policy.md",
        text="Updated 3 March 2026.\nReturns are free for 30 days. Refunds take 5 working days.\n"
        "A restocking fee of 12.50 EUR applies to opened goods.\n",
    ),
    Document(name="contacts.md", text="The help desk is open from 9:00 to 17:00. Call +44 20 7946 0018."),
)
FLOW = {
    "max_steps": 20,
    "retries": {"lookup": 3},
    "nodes": ["classify", "lookup", "write", "check"],
    "edges": [["lookup", "write"], ["write", "check"]],
    "branches": [{"source": "classify", "name": "route", "ends": {"known": "lookup", "new": "write"}}],
    "handoffs": {"check": {"reject": "write"}},
    "state": {"write": ["messages", "order"]},
}


def agent(prompt: str, tools: str) -> AgentConfig:
    return AgentConfig(
        prompt=(DATA / "prompts" / prompt).read_text("utf-8"),
        tools=read_tools(tools, DATA / "toolsets").tools,
        model=MODEL,
        context=DOCUMENTS,
        orchestration=FLOW,
        history=History.KEPT,
    )


def listed(mutant: Mutant) -> str:
    places = ", ".join(f"{e.pointer}{list(e.span) if e.span else ''}" for e in mutant.edits)
    return f"{mutant.id}  {mutant.operator}  {places}  {mutant.description}"


@pytest.mark.parametrize("name", AGENTS)
def test_the_mutants_of_a_realistic_agent_are_those_that_were_reviewed(name: str) -> None:
    config = agent(*AGENTS[name])
    operators = [kind() for kind in load_all("operators").values() if not issubclass(kind, OnDemand)]
    found = generate(config, operators, OPTIONS).mutants
    lines = "".join(f"{listed(mutant)}\n" for mutant in found)
    file = DATA / "snapshots" / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(lines, "utf-8")
    assert lines == file.read_text("utf-8")


def test_the_corpus_has_prompts_and_tools_of_many_shapes() -> None:
    prompts = {prompt for prompt, _ in AGENTS.values()}
    tools = {tools for _, tools in AGENTS.values()}
    assert prompts == {f.name for f in (DATA / "prompts").iterdir() if f.suffix != ".yaml"}
    assert tools == {f.name for f in (DATA / "toolsets").iterdir()}
    assert len(prompts) >= 12 and len(tools) >= 12
