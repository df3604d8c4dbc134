"""`agentmut init --from FILE` makes a project of each format that `mutants --config` reads."""

import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from agentmut.project.config import read_config_file
from agentmut.project.loading import load_project
from agentmut.usecases.starting_from import write_from

FILES = Path(__file__).parents[1] / "testdata" / "agent_files"
AGENTS = (
    "CLAUDE.md", "assistant.json", "desk.prompty", "root_agent.yaml", "agents/reviewer.md",
)  # fmt: skip


@pytest.mark.parametrize("name", AGENTS)
def test_a_project_has_the_prompt_the_tools_and_the_model_of_the_file(name: str, tmp_path: Path) -> None:
    described = read_config_file(FILES / name).config
    write_from(tmp_path, FILES / name)
    config = load_project(tmp_path).config
    assert config.prompt.strip() == described.prompt.strip()
    assert [tool.name for tool in config.tools] == [tool.name for tool in described.tools]
    assert [tool.description for tool in config.tools] == [tool.description for tool in described.tools]
    assert config.model.name == (described.model.name or "gpt-5.2")


def test_front_matter_is_data_and_no_prose(tmp_path: Path) -> None:
    write_from(tmp_path, FILES / "agents" / "reviewer.md")
    text = (tmp_path / "prompts" / "system.md").read_text()
    assert "---" not in text.splitlines()[:1]
    assert "description:" not in text


def test_one_agent_of_several_is_named_and_the_error_lists_them(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"agents\.yaml describes \d+ agents: .*Name one, as in agents\.yaml#"
    ):
        write_from(tmp_path, FILES / "agents.yaml")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="there is no file"):
        write_from(tmp_path, FILES / "missing.md")


def test_the_command_says_what_it_wrote_and_what_comes_next(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["init", str(tmp_path / "desk"), "--from", str(FILES / "desk.prompty")])
    assert told.exit_code == 0, told.output
    assert "desk/prompts/system.md" in told.output.replace("\n", "")
    assert "=sim-large -- agentmut mutants" in told.output


def test_an_existing_project_is_not_overwritten(tmp_path: Path) -> None:
    write_from(tmp_path, FILES / "CLAUDE.md")
    with pytest.raises(UsageError, match=r"already has agentmut\.yaml"):
        write_from(tmp_path, FILES / "CLAUDE.md")
    assert write_from(tmp_path, FILES / "assistant.json", force=True).model == "gpt-4o"


def test_a_server_of_a_list_becomes_a_project_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cret")
    monkeypatch.setenv("FILES_MODE", "read")
    source = tmp_path / "mcp.json"
    source.write_text(
        '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files"],'
        ' "env": {"API_TOKEN": "s3cret", "MODE": "${FILES_MODE}"}},'
        ' "far": {"url": "https://example.org/mcp", "headers": {"X-Api-Key": "s3cret"}}}}'
    )
    with pytest.raises(UsageError, match=r"names 2 MCP servers: files, far. Name one, as in mcp.json#files"):
        write_from(tmp_path / "none", source)
    assert not (tmp_path / "none").exists()
    with pytest.raises(UsageError, match=r"no server 'fles'.*files"):
        write_from(tmp_path / "none", tmp_path / "mcp.json#fles")
    begun = write_from(tmp_path / "files", tmp_path / "mcp.json#files")
    assert (begun.model, begun.extra) == ("", "mcp")
    agent = yaml.safe_load((tmp_path / "files" / "agentmut.yaml").read_text())["agent"]
    assert agent == {
        "adapter": "mcp",
        "command": ["npx", "-y", "server-files"],
        "env": {"API_TOKEN": "${API_TOKEN}", "MODE": "${FILES_MODE}"},
    }
    assert load_project(tmp_path / "files").scenarios[0].turns == ({"list_tools": True},)
    write_from(tmp_path / "far", tmp_path / "mcp.json#far")
    agent = yaml.safe_load((tmp_path / "far" / "agentmut.yaml").read_text())["agent"]
    assert (agent["url"], agent["headers"]) == ("https://example.org/mcp", {"X-Api-Key": "${X_API_KEY}"})


def test_a_list_that_names_its_tools_describes_an_agent(tmp_path: Path) -> None:
    write_from(tmp_path, FILES / "mcp.json")
    assert load_project(tmp_path).config.tools


def test_files_of_the_user_stay_and_the_project_uses_a_document_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "git.md").write_text("Rebase, never merge.\n")
    (tmp_path / "tools.yaml").write_text("- name: mine\n")
    (tmp_path / "helper.md").write_text(
        "---\nname: helper\ndescription: Helps.\ntools: [search]\nmodel: [Some Model 4.5, gpt-5.2]\n---\n"
        "See @docs/git.md.\n"
    )
    begun = write_from(tmp_path, tmp_path / "helper.md")
    assert (tmp_path / "tools.yaml").read_text() == "- name: mine\n"
    project = load_project(tmp_path)
    assert project.config.tool_names == ("helper", "search")
    assert [one.name for one in project.config.context] == ["docs/git.md"]
    assert begun.model == project.config.model.name == "Some Model 4.5"
    assert "--alias 'Some Model 4.5=sim-large' --" in (tmp_path / "agentmut.yaml").read_text()


def test_a_project_names_what_was_not_taken(tmp_path: Path) -> None:
    agent = tmp_path / "root_agent.yaml"
    agent.write_text("name: a\ninstruction: Be brief.\nsub_agents: [{config_path: b.yaml}]\n")
    write_from(tmp_path / "made", agent)
    assert "    # not taken: the sub-agent b.yaml\n" in (tmp_path / "made" / "agentmut.yaml").read_text()


def test_variables_of_a_client_are_the_folder_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".vscode").mkdir(parents=True)
    source = tmp_path / "repo" / ".vscode" / "mcp.json"
    source.write_text(
        '{"servers": {"pg": {"command": "uvx", "args": ["postgres-mcp", "${input:db-key}", "say \\"$x\\""]},'
        ' "fs": {"command": "npx", "args": ["server-files", "${workspaceFolder}/src"]},'
        ' "both": {"command": "run", "args": ["--at=${workspaceFolder}/a b", "--key=${env:KEY}"]}}}'
    )
    agents = {}
    for name in ("pg", "fs", "both"):
        write_from(tmp_path / "tests" / name, Path(f"{source}#{name}"))
        agents[name] = yaml.safe_load((tmp_path / "tests" / name / "agentmut.yaml").read_text())["agent"]
    assert agents["fs"] == {"adapter": "mcp", "command": ["npx", "server-files", "../../repo/src"]}
    assert agents["pg"]["command"][:2] == ["sh", "-c"]
    assert agents["pg"]["env"] == {"DB_KEY": "${DB_KEY}"}
    for name, said in (
        ("pg", ["postgres-mcp", "k 1", 'say "$x"']),
        ("both", ["--at=../../repo/a b", "--key=k 1"]),
    ):
        line = (
            agents[name]["command"][2]
            .replace("exec uvx", "printf '%s\\n'")
            .replace("exec run", "printf '%s\\n'")
        )
        done = subprocess.run(
            ["sh", "-c", line],
            capture_output=True,
            text=True,
            env={"DB_KEY": "k 1", "KEY": "k 1"},
            check=True,
        )
        assert done.stdout.splitlines() == said
