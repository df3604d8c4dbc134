"""Files of other tools that describe an agent: what is read of each format, and where each mutant is placed."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import ProjectError
from agentmut.campaign import Selection, mutants_of
from agentmut.campaign.selection.locate import target_of
from agentmut.mutation import OperatorCatalogue
from agentmut.nouns import Origin
from agentmut.project import MutationSettings
from agentmut.project.config import read_config_file
from agentmut.seams.plugins import Group, load, names
from agentmut.testing import check_config_reader

FILES = Path(__file__).parents[1] / "testdata" / "agent_files"
OF_READERS = {
    "instructions": ["CLAUDE.md"],
    "agent_markdown": ["agents/reviewer.md"],
    "skill": ["skills/refunds/SKILL.md"],
    "jinja": ["prompts/desk.j2"],
    "prompty": ["desk.prompty"],
    "crewai_agents": ["agents.yaml"],
    "crewai_tasks": ["tasks.yaml"],
    "promptfoo": ["promptfooconfig.yaml"],
    "openai_assistant": ["assistant.json"],
    "adk": ["root_agent.yaml"],
    "mcp_servers": ["mcp.json"],
    "langgraph_json": [],
}
ALL = [path for paths in OF_READERS.values() for path in paths] + ["langgraph.json"]


def read(name: str) -> Origin:
    return read_config_file(FILES / name)


def places(
    origin: Origin, operator: str = "prompt.drop_instruction"
) -> dict[str, tuple[str | None, int | None]]:
    """Give where the mutants of an operator stand, by what they drop."""
    settings = MutationSettings(operators=(operator,))
    generation = mutants_of(origin, Selection(), settings, OperatorCatalogue({}))
    targets = {one.description: target_of(one, origin) for one in generation.mutants}
    return {said.removeprefix("drop ").strip('"'): (at.path, at.line) for said, at in targets.items()}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_reader_has_a_file_here() -> None:
    assert set(OF_READERS) == set(names(Group.CONFIG_READERS))


@pytest.mark.parametrize("name", OF_READERS)
def test_a_reader_is_sound_and_recognises_no_other_format(name: str) -> None:
    mine = OF_READERS[name] or ["langgraph.json"]
    reader = load(Group.CONFIG_READERS, name)
    others = [] if reader.general else [FILES / path for path in ALL if path not in mine]
    check_config_reader(reader, *(FILES / path for path in OF_READERS[name]), others=others)


def test_imports_of_instructions_are_documents_and_code_is_no_import() -> None:
    origin = read("CLAUDE.md")
    assert [document.name for document in origin.config.context] == ["docs/style.md"]
    assert origin.config.prompt.startswith("# Shop service")


def test_a_comment_in_instructions_is_cut_out_and_later_lines_keep_their_numbers() -> None:
    origin = read("CLAUDE.md")
    assert "agentmut" not in origin.config.prompt
    assert places(origin)["Never push to main without a review."] == ("CLAUDE.md", 8)


def test_front_matter_is_data_also_where_it_is_no_yaml() -> None:
    origin = read("agents/reviewer.md")
    assert origin.config.prompt.startswith("You are a strict reviewer.")
    assert origin.config.tool_names == ("reviewer", "Read", "Grep", "Bash")
    assert origin.config.tools[0].description == "Reviews changes: use it after every commit."
    assert origin.config.model.name == "sonnet"
    assert places(origin)["Always name the file and the line."] == ("reviewer.md", 11)


def test_a_skill_is_a_tool_that_its_description_offers() -> None:
    config = read("skills/refunds/SKILL.md").config
    assert config.tool_names == ("refunds", "lookup_order", "refund")
    assert config.tools[0].description.startswith("Pays orders back.")


def test_a_rule_within_a_line_of_three_dashes_is_no_front_matter(tmp_path: Path) -> None:
    path = written(tmp_path, "AGENTS.md", "Never guess.\n\n---\n\nAlways be brief.\n")
    assert places(read_config_file(path)) == {
        "Never guess.": ("AGENTS.md", 1),
        "Always be brief.": ("AGENTS.md", 5),
    }


def test_of_a_template_with_messages_the_system_message_is_read() -> None:
    origin = read("prompts/desk.j2")
    assert "{{ q }}" not in origin.config.prompt
    assert places(origin)["Never promise a refund."] == ("desk.j2", 4)


def test_prompty_gives_model_settings_tools_and_the_system_message() -> None:
    origin = read("desk.prompty")
    assert (origin.config.model.name, origin.config.model.temperature) == ("gpt-4o", 0.2)
    assert origin.config.tool_names == ("lookup",)
    assert "question" not in origin.config.prompt
    assert places(origin)["Never promise a refund."] == ("desk.prompty", 14)


def test_prompty_without_roles_is_all_prompt(tmp_path: Path) -> None:
    text = "---\nname: claims\nmodel: gpt-4o\n---\n# Job\nHelp patients.\n"
    config = read_config_file(written(tmp_path, "claims.prompty", text)).config
    assert config.prompt == "# Job\nHelp patients."
    assert config.model.name == "gpt-4o"


def test_prompty_names_a_file_of_tools_and_a_model_by_variables(tmp_path: Path) -> None:
    written(tmp_path, "tools.json", '[{"name": "find_tent", "description": "Find a tent."}]')
    text = """---
model:
  configuration: {type: azure_openai, azure_deployment: "${env:DEPLOYMENT:gpt-4o}"}
  parameters: {temperature: 0.2, tools: "${file:tools.json}"}
---
system:
Help.
"""
    config = read_config_file(written(tmp_path, "tents.prompty", text)).config
    assert (config.model.name, config.model.temperature) == ("gpt-4o", 0.2)
    assert [(tool.name, tool.description) for tool in config.tools] == [("find_tent", "Find a tent.")]


def test_parameters_of_promptys_second_version_are_a_schema(tmp_path: Path) -> None:
    text = """---
model: {id: claude-sonnet-4-5, provider: anthropic, options: {maxOutputTokens: 1024, topP: 0.5}}
tools:
  - name: get_weather
    kind: function
    description: Get the weather.
    parameters:
      - {name: place, kind: string, description: City, required: true}
      - {name: days, kind: float}
  - {name: search, kind: mcp, serverName: web}
---
system:
Help.
"""
    config = read_config_file(written(tmp_path, "weather.prompty", text)).config
    (tool,) = config.tools
    assert (tool.name, tool.description) == ("get_weather", "Get the weather.")
    assert tool.parameters == {
        "type": "object",
        "properties": {"place": {"type": "string", "description": "City"}, "days": {"type": "number"}},
        "required": ["place"],
    }
    assert (config.model.max_tokens, config.model.top_p) == (1024, 0.5)


def test_tools_in_the_envelope_of_a_gateway_are_read(tmp_path: Path) -> None:
    text = """prompts: ["Help."]
providers:
  - id: adaline:openai:chat:gpt-4o-mini
    config:
      tools:
        - type: function
          definition: {schema: {name: get_weather, description: Get it., parameters: {type: object}}}
tests: []
"""
    config = read_config_file(written(tmp_path, "promptfooconfig.yaml", text)).config
    assert [tool.name for tool in config.tools] == ["get_weather"]
    assert config.model.name == "gpt-4o-mini"


def test_a_plugins_servers_may_stand_at_the_top(tmp_path: Path) -> None:
    text = '{"files": {"command": "npx", "args": [], "autoApprove": ["read_file"]}}'
    config = read_config_file(written(tmp_path, ".mcp.json", text)).config
    assert [tool.name for tool in config.tools] == ["read_file"]
    silent = written(tmp_path / "other", ".mcp.json", '{"files": {"command": "npx"}}')
    with pytest.raises(ProjectError, match="names the MCP servers files"):
        read_config_file(silent)


def test_one_of_several_crewai_agents_is_named() -> None:
    with pytest.raises(
        ProjectError, match=r"2 agents: researcher, writer\. Name one, as in agents\.yaml#resear"
    ):
        read("agents.yaml")
    with pytest.raises(ProjectError, match="no agent 'nobody'"):
        read("agents.yaml#nobody")


def test_a_crewai_prompt_is_laid_out_as_the_adapter_has_it() -> None:
    origin = read("agents.yaml#researcher")
    backstory = "You are careful.\nNever quote a source that you have not read."
    assert origin.config.prompt == f"{backstory}\n\n## Goal\nFind what is new about {{topic}}"
    found = places(origin)
    assert found["Never quote a source that you have not read."] == ("agents.yaml", 8)
    assert found["Find what is new about {topic}"] == ("agents.yaml", 4), "folded text: the line of its key"


def test_a_heading_that_stands_in_no_file_has_no_line() -> None:
    origin = read("agents.yaml#researcher")
    assert places(origin, "prompt.drop_section") == {'the section "Goal': ("agents.yaml", None)}


def test_crewai_tasks_belong_to_their_agent() -> None:
    origin = read("tasks.yaml#researcher")
    assert origin.config.prompt.startswith("## Task: research\nResearch {topic}.")
    assert places(origin)["Always name the sources."] == ("tasks.yaml", 2)


@pytest.mark.parametrize(
    ("agent", "rule", "place"),
    [
        ("desk", "Never guess.", ("prompts/desk.txt", 1)),
        ("desk_2", "Be brief.", ("prompts/desk.txt", 4)),
        ("prompt_2", "Never add words.", ("promptfooconfig.yaml", 4)),
        ("prompt_3", "Always answer in French.", ("promptfooconfig.yaml", 6)),
    ],
)
def test_each_prompt_of_promptfoo_is_an_agent(agent: str, rule: str, place: tuple[str, int]) -> None:
    origin = read(f"promptfooconfig.yaml#{agent}")
    assert places(origin)[rule] == place
    assert (origin.config.model.name, origin.config.model.temperature) == ("gpt-4o-mini", 0)
    assert origin.config.tool_names == ("lookup",)


def test_an_assistant_has_its_functions_and_not_the_tools_of_the_service() -> None:
    origin = read("assistant.json")
    assert origin.config.tool_names == ("lookup",)
    assert origin.config.model.response_format is None
    assert origin.sources.tool_places["lookup"].line == 9


def test_an_adk_agent_has_instruction_model_and_names_of_tools() -> None:
    origin = read("root_agent.yaml")
    assert origin.config.tool_names == ("google_search", "refund")
    assert (origin.config.model.name, origin.config.model.max_tokens) == ("gemini-2.5-flash", 512)
    assert places(origin)["Always check the order before you refund."] == ("root_agent.yaml", 7)


def test_an_adk_agent_without_a_model_names_its_sub_agents(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "root_agent.yaml",
        "agent_class: SequentialAgent\nsub_agents: [{config_path: writer.yaml}]\n",
    )
    with pytest.raises(ProjectError, match=r"no instruction, but the sub-agents writer\.yaml"):
        read_config_file(path)


def test_servers_give_the_tools_that_the_client_names(tmp_path: Path) -> None:
    origin = read("mcp.json")
    assert origin.config.tool_names == ("look_up_order",)
    assert origin.sources.tool_places["look_up_order"].line == 3
    silent = written(tmp_path, "mcp.json", json.dumps({"mcpServers": {"mail": {"command": "mail"}}}))
    with pytest.raises(ProjectError, match="names the MCP servers mail, and none of their tools"):
        read_config_file(silent)


def test_langgraph_json_says_where_the_prompt_is() -> None:
    with pytest.raises(ProjectError, match=r"graph\).*no prompt and no tools.*init --from langgraph.json"):
        read("langgraph.json")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("assistant.json", '{"object": "assistant", "model": "m", "temperature": -1}', "temperature"),
        ("root_agent.yaml", "agent_class: LlmAgent\n  name: x\n", "root_agent.yaml:2"),
        ("agents.yaml", "a: {goal: g, backstory: b, temperature: hot}\n", "temperature"),
        ("promptfooconfig.yaml", "prompts: ['file://none.txt']\nproviders: []\n", "none.txt"),
        ("promptfooconfig.yaml", "prompts: ['file://make.py']\nproviders: []\n", "its prompts are code"),
    ],
)
def test_bad_input_is_named(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=said):
        read_config_file(written(tmp_path, name, text))


@pytest.mark.parametrize(
    "value", [None, 3, [], [[]], {"prompts": 3, "tests": []}, {"graphs": {}}, {"servers": {}}]
)
def test_no_reader_stumbles_over_odd_json(value: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "odd.json", json.dumps(value))
    with pytest.raises(ProjectError):
        read_config_file(path)


def test_a_list_of_servers_may_have_comments_and_commas_behind_the_last_item(tmp_path: Path) -> None:
    text = '{\n  // of an editor\n  "servers": {\n    "web": {"command": "npx", "tools": ["click // now"],},\n  },\n}\n'
    origin = read_config_file(written(tmp_path, "mcp.json", text))
    assert origin.config.tool_names == ("click // now",)
    assert places(origin, "tool.remove") == {"remove the tool click // now": ("mcp.json", 4)}
    with pytest.raises(ProjectError, match="is not JSON"):
        read_config_file(written(tmp_path, "mcp.json", '{"servers": {,}}'))


def test_a_role_of_prompty_may_have_attributes_and_parameters_may_be_listed_as_properties(
    tmp_path: Path,
) -> None:
    text = (
        "---\nname: claims\nmodel: {id: gpt-5.2}\ntools:\n- {name: get_policy, kind: function, "
        "parameters: {properties: [{name: number, kind: string, required: true}]}}\n---\nsystem[name=Desk]:\n"
        "Ask for the number.\n\nuser:\n{{q}}\n"
    )
    config = read_config_file(written(tmp_path, "claims.prompty", text)).config
    assert config.prompt.strip() == "Ask for the number."
    assert config.tools[0].parameters["required"] == ["number"]


def test_adk_tells_functions_and_agents_from_sets_of_tools(tmp_path: Path) -> None:
    text = """
name: desk
instruction: Help.
tools:
- name: my.module.check_prime
- name: google_search
- {name: MCPToolset, args: {stdio_server_params: {command: npx}}}
- {name: AgentTool, args: {agent: {config_path: ./agents/tutor.yaml}}}
- {name: LongRunningFunctionTool, args: {func: my.module.approve}}
"""
    config = read_config_file(written(tmp_path, "root_agent.yaml", text)).config
    assert config.tool_names == ("check_prime", "google_search", "tutor", "approve")


def test_crewai_may_write_a_model_with_its_settings(tmp_path: Path) -> None:
    text = "writer:\n  role: W\n  goal: Write.\n  backstory: You write.\n  llm: {model: gpt-5.2, temperature: 0.1}\n"
    model = read_config_file(written(tmp_path, "agents.yaml", text)).config.model
    assert (model.name, model.temperature) == ("gpt-5.2", 0.1)


MERGED = """
x-defaults: &defaults {llm: openai/gpt-4o}
writer:
  <<: *defaults
  role: Writer
  goal: Write it.
  backstory: You are brief.
"""


def test_entries_for_defaults_are_no_agents_of_crewai(tmp_path: Path) -> None:
    found = read_config_file(written(tmp_path, "agents.yaml", MERGED))
    assert found.config.model.name == "openai/gpt-4o"
    assert found.config.prompt.startswith("You are brief.")


@pytest.mark.parametrize(
    ("name", "text", "left_out"),
    [
        (
            "root_agent.yaml",
            "name: a\ninstruction: Be brief.\nsub_agents: [{config_path: b.yaml}, {code: c.d}]\n",
            ("the sub-agent b.yaml", "the sub-agent c.d"),
        ),
        (
            "a.json",
            '{"object": "assistant", "instructions": "Be brief.", "model": "m", "tools": [{"type": "file_search"}]}',
            ("the tool file_search of the service",),
        ),
        (
            "promptfooconfig.yaml",
            "prompts: [Be brief.]\nproviders: [openai:chat:m, openai:chat:n]\ntests: []\n",
            ("the provider openai:chat:n (the first provider counts)",),
        ),
        ("a.j2", '{% extends "b.j2" %}Be brief.', ("the template b.j2",)),
        ("b.j2", "Be brief.", ()),
    ],
)
def test_what_a_file_names_and_is_not_read_is_said(
    name: str, text: str, left_out: tuple[str, ...], tmp_path: Path
) -> None:
    assert read_config_file(written(tmp_path, name, text)).left_out == left_out
