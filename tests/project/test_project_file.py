"""`agentmut.yaml` and what it names, good and bad: every error says file, key and remedy."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentmut._base.errors import ExitCode, ProjectError
from agentmut.campaign.selection.selection import Selection
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.project.schema import MutationSettings
from agentmut.seams import Group, names

AGENT = "version: 1\nagent: {adapter: python, run: my_agent:run}\n"
SCENARIO = "- name: one\n  input: hi\n  evaluators: [{contains: hello}]\n"
TOOL = "- {name: refund, description: Pay back, parameters: {type: object, properties: {}}}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    write(tmp_path, {"scenarios/one.yaml": SCENARIO})
    return tmp_path


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def load(root: Path, text: str, **files: str) -> Project:
    write(root, {"agentmut.yaml": text, **files})
    return load_project(root, environment={"TOKEN": "s3cret"})


def message(root: Path, text: str) -> str:
    with pytest.raises(ProjectError) as error:
        load(root, text)
    assert error.value.exit_code is ExitCode.USAGE
    return str(error.value)


def refused(root: Path, text: str, pieces: list[str]) -> None:
    said = message(root, text)
    assert [piece for piece in pieces if piece not in said] == [], said


def test_a_minimal_file_takes_the_documented_defaults(root: Path) -> None:
    project = load(root, AGENT)
    assert project.root == root.resolve()
    assert project.path == root.resolve() / "agentmut.yaml"
    assert (project.agent.run, project.agent.root) == ("my_agent:run", str(root.resolve()))
    assert (project.threshold, project.threshold_of(project.scenarios[0])) == (0.9, 0.9)
    statistics = project.statistics
    assert (statistics.alpha, statistics.power, statistics.delta) == (0.05, 0.9, 0.2)
    assert (statistics.n_max, statistics.baseline, statistics.scoring) == (100, "auto", "default")
    execution = project.execution
    assert (execution.concurrency, execution.timeout, execution.isolate) == (16, 60, "task")
    assert (execution.retries, execution.window, execution.executor) == (3, 1, "local")
    assert project.mutation == MutationSettings()
    assert project.budget.usd is None
    assert project.sources.scenarios == {"one": "scenarios/one.yaml:1"}


FULL = """
version: 1
agent:
  adapter: langgraph
  factory: my_agent:build
  version: "2.1"
  env: {OPENAI_API_KEY: "${TOKEN}", BASE: "https://${TOKEN}.example/", PLAIN: text}
  config:
    prompt: prompts/system.md
    tools: tools.yaml
    model: {provider: openai, name: m-1, temperature: 1}
    context: [docs/policy.md]
    orchestration: {max_turns: 4}
suite: {scenarios: [scenarios/*.yaml, more/**/*.yaml], threshold: 0.8, ci_runs: [1, 3, 20]}
mutation:
  operators: [prompt.drop_instruction, tool.remove]
  per_operator: 2
  downgrade_models: [m-0]
  ignore: [{mutant: 3f9ac2d1, reason: cosmetic}]
statistics: {baseline: 60, scoring: paper, seed: 7}
budget: {usd: 5, minutes: 30, prices: {m-1: {input: 1.5, output: 6}}}
execution: {isolate: process, requests_per_minute: 90}
"""


def test_every_section_reaches_the_project(root: Path) -> None:
    write(root, {"prompts/system.md": "Be kind.\n", "tools.yaml": TOOL, "docs/policy.md": "5 days"})
    write(root, {"more/a/two.yaml": SCENARIO.replace("one", "two") + "  context: [docs/policy.md]\n"})
    project = load(root, FULL)
    config = project.config
    assert (config.prompt, project.sources.prompt) == ("Be kind.\n", "prompts/system.md")
    assert (config.tool_names, project.sources.tools) == (("refund",), "tools.yaml")
    assert (config.model.name, config.model.temperature) == ("m-1", 1.0)
    assert config.context[0].model_dump() == {"name": "docs/policy.md", "text": "5 days"}
    assert project.sources.context == ("docs/policy.md",)
    assert config.orchestration == {"max_turns": 4}
    assert [scenario.name for scenario in project.scenarios] == ["two", "one"]
    assert project.scenarios[0].context[0].text == "5 days"
    assert (project.threshold, project.agent_version) == (0.8, "2.1")
    assert project.ci_runs == (1, 3, 20)
    assert project.mutation.ignore[0].reason == "cosmetic"
    assert (project.statistics.baseline, project.statistics.scoring, project.statistics.seed) == (
        60,
        "paper",
        7,
    )
    assert project.budget.prices["m-1"].output == 6
    assert (project.execution.isolate, project.execution.requests_per_minute) == ("process", 90)


def test_secrets_come_from_the_environment_and_are_never_shown(root: Path) -> None:
    env = "agent: {adapter: python, run: a:b, env: {KEY: '${TOKEN}', URL: 'http://${TOKEN}/'}}"
    project = load(root, f"version: 1\n{env}\n")
    assert project.env["KEY"].get_secret_value() == "s3cret"
    assert project.env["URL"].get_secret_value() == "http://s3cret/"
    assert "s3cret" not in repr(project)
    assert "s3cret" not in project.model_dump_json()


def test_interpolation_happens_nowhere_else(root: Path) -> None:
    text = "version: 1\nagent: {adapter: python, run: a:b, config: {prompt: 'Say ${TOKEN} to all.'}}\n"
    assert load(root, text).config.prompt == "Say ${TOKEN} to all."


def config(value: str) -> str:
    return f"version: 1\nagent:\n  adapter: python\n  run: a:b\n  config: {{{value}}}\n"


@pytest.mark.parametrize("prompt", ["'Be kind.'", '"two\\n\\nlines.md"', "'" + "long " * 500 + "'", "''"])
def test_what_does_not_look_like_a_path_is_the_prompt_itself(root: Path, prompt: str) -> None:
    assert load(root, config(f"prompt: {prompt}")).sources.prompt is None


def test_an_existing_file_is_a_path_whatever_its_name(root: Path) -> None:
    write(root, {"PROMPT": "from the file"})
    assert load(root, config("prompt: PROMPT")).config.prompt == "from the file"


def test_tools_may_be_json_or_a_python_object(root: Path) -> None:
    write(root, {"tools.json": '[{"type": "function", "function": {"name": "refund"}}]'})
    assert load(root, config("tools: tools.json")).config.tool_names == ("refund",)
    write(root, {"own_tools.py": "def lookup(order_id: str) -> str:\n    'Find.'\nTOOLS = [lookup]\n"})
    (tool,) = load(root, config("tools: 'own_tools:TOOLS'")).config.tools
    assert (tool.name, tool.description) == ("lookup", "Find.")


def test_the_agents_own_code_is_not_imported(root: Path) -> None:
    write(root, {"my_agent.py": "raise RuntimeError('imported')"})
    assert load(root, AGENT).agent.run == "my_agent:run"


def test_a_missing_file_points_at_init(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as error:
        load_project(tmp_path)
    for piece in ("no agentmut.yaml", str(tmp_path), "agentmut init"):
        assert piece in str(error.value)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ["agentmut.yaml is empty", "agentmut init"]),
        ("version: 1\nagent: [\n", ["agentmut.yaml:3:1"]),
        ("version: 1\nversion: 1\n", ["agentmut.yaml:2:1", "'version' is given twice"]),
        ("- a\n", ["agentmut.yaml:1", "should be a mapping of keys to values"]),
        (AGENT.replace("1", "2"), ["agentmut.yaml:1: version", "should be 1, got 2"]),
        ("agent: {adapter: python, run: a:b}\n", ["version: is missing"]),
        ("version: 1\n", ["agent.adapter: is missing"]),
        ("version: 1\nagent:\n", ["agentmut.yaml:2: agent", "mapping", "null"]),
        (AGENT + "suit: {}\n", ["agentmut.yaml:3: suit", "Did you mean 'suite'?"]),
        (
            AGENT + "gate: {min_score: 80}\n",
            ["agentmut.yaml:3:", "gate.min_score", "less than or equal to 1"],
        ),
        (AGENT + "gate: {min_scroe: 0.8}\n", ["gate.min_scroe", "Did you mean 'min_score'?"]),
        (AGENT + "gate: {inconclusive: ask}\n", ["gate.inconclusive", "'manual', 'block' or 'deploy'"]),
        (AGENT + "suite: {treshold: 0.5}\n", ["suite.treshold", "Did you mean 'threshold'?"]),
        (AGENT + "suite: {threshold: 1.0}\n", ["suite.threshold", "less than 1, got 1.0"]),
        (AGENT + "suite: {threshold: '0.9'}\n", ["suite.threshold", "a number", '"0.9"']),
        (AGENT + "suite: {ci_runs: [0]}\n", ["suite.ci_runs[0]", "greater than or equal to 1, got 0"]),
        (AGENT + "suite: {ci_runs: [3, 3]}\n", ["suite.ci_runs", "every value may be named once"]),
        (AGENT + "suite: {ci_runs: 3}\n", ["suite.ci_runs", "list", "got 3"]),
        (AGENT + "suite: {scenarios: 3}\n", ["suite.scenarios", "text", "a list", "got 3"]),
        (AGENT + "statistics: {kill: gate}\n", ["statistics.kill", "unknown key"]),
        (AGENT + "statistics: {alpha: 0}\n", ["statistics.alpha", "0.0001", "got 0"]),
        (AGENT + "statistics: {power: 1.2}\n", ["statistics.power", "less than or equal to 0.999"]),
        (
            AGENT + "statistics: {baseline: many}\n",
            ["statistics.baseline", "'auto'", "whole number", '"many"'],
        ),
        (AGENT + "statistics: {seed: yes}\n", ["statistics.seed", "whole number", "true"]),
        (AGENT + "execution: {executor: ray}\n", ["execution.executor", "is written `engine: ray`"]),
        (AGENT + "execution: {isolate: thread}\n", ["execution.isolate", "'task', 'process' or 'auto'"]),
        (AGENT + "execution: {timeout: 0}\n", ["execution.timeout", "greater than 0"]),
        (AGENT + "budget: {prices: {m: {input: 1, outptu: 2}}}\n", ["budget.prices.m.outptu", "'output'"]),
        (AGENT + "mutation: {classes: [promt]}\n", ["mutation.classes[0]", "'prompt'", '"promt"']),
        (AGENT + "mutation: {operators: [tool.remvoe]}\n", ["mutation.operators[0]", "'tool.remove'"]),
        (AGENT + "mutation: {operators: [orchestraton.*]}\n", ["mutation.operators[0]", "'orchestraton.*'"]),
        (
            AGENT + "mutation: {operators: [tool.remove], classes: [tool]}\n",
            ["mutation.operators", "not both"],
        ),
        (AGENT + "mutation: {ignore: [{mutant: 3f9ac2d1}]}\n", ["mutation.ignore[0].reason", "is missing"]),
        (AGENT.replace("python", "pyhton"), ["agent.adapter", "'pyhton'", "Did you mean 'python'?"]),
        (AGENT.replace("my_agent:run", "my_agent"), ["agent.run", "module:object", '"my_agent"']),
        (AGENT.replace("run: my_agent:run", "version: '1'"), ["needs the key 'run'", "my_package.agent:run"]),
        (AGENT.replace("python", "langgraph"), ["needs the key 'factory'", "does not use 'run'"]),
        (config("model: {temprature: 1}"), ["agent.config.model.temprature", "'temperature'"]),
        (config("model: {temperature: hot}"), ["agentmut.yaml:5: agent.config.model.temperature", '"hot"']),
        (config("model: gpt"), ["agent.config.model", '"gpt"']),
        (
            config("orchestration: {max_steps: many}"),
            ["agentmut.yaml:5: agent.config.orchestration", "orchestration.max_steps", "such as 25"],
        ),
        (config("orchestration: {edges: [[a]]}"), ["orchestration.edges.0", "from and to"]),
        (config("orchestration: {retries: {a: -1}}"), ["orchestration.retries", "{fetch: 2}"]),
        (config("prompt: 3"), ["agent.config.prompt", "quote it"]),
        (config("prompt: sys.md"), ["agent.config.prompt", "no file 'sys.md'", "prompt: |"]),
        (config(f"context: [{'x' * 3000}]"), ["agent.config.context", "there is no file"]),
        (config("context: [nope.md]"), ["agent.config.context", "no file 'nope.md'", "relative to"]),
        (config("tools: nope.yaml"), ["agent.config.tools", "no file 'nope.yaml'", "module:object"]),
        (config("tools: 'no_such_module:TOOLS'"), ["agent.config.tools", "no module 'no_such_module'"]),
    ],
)
def test_a_bad_project_file_is_explained(root: Path, text: str, pieces: list[str]) -> None:
    refused(root, text, pieces)


def test_a_missing_environment_variable_is_named(root: Path) -> None:
    text = AGENT.replace("run: my_agent:run", "run: my_agent:run, env: {KEY: '${NOT_SET}'}")
    refused(root, text, ["agentmut.yaml:2: agent.env.KEY", "environment variable NOT_SET is not set"])


@pytest.mark.parametrize(
    ("name", "content", "pieces"),
    [
        ("tools.yaml", "refund: {}\n", ["tools.yaml holds a dict", "a list of tools"]),
        ("tools.yaml", "- {description: x}\n", ["tools.yaml: tool 1", "has no name"]),
        ("tools.yaml", "- {name: a, description: [x]}\n", ["tool 1: description: should be"]),
        ("tools.yaml", TOOL + TOOL, ["more than one tool named 'refund'"]),
        ("tools.yaml", "- [\n", ["tools.yaml:2:1"]),
        ("tools.json", "[{]", ["tools.json is not JSON"]),
        ("tools.json", "[3]", ["tools.json: tool 1", "cannot read a tool from 3"]),
    ],
)
def test_a_bad_tools_file_is_explained(root: Path, name: str, content: str, pieces: list[str]) -> None:
    write(root, {name: content})
    refused(root, config(f"tools: {name}"), ["agent.config.tools", *pieces])


def test_a_prompt_that_is_no_text_is_explained(root: Path) -> None:
    write(root, {"sys.md": b"caf\xe9"})
    refused(root, config("prompt: sys.md"), ["agent.config.prompt", "sys.md is not UTF-8", "0xe9"])


def test_every_problem_of_the_file_is_shown_on_its_own_line(root: Path) -> None:
    lines = message(root, AGENT + "suit: {}\nstatistics: {alpha: 2, delta: 0}\n").splitlines()
    assert [line.split(": ")[1] for line in lines] == ["statistics.alpha", "statistics.delta", "suit"]
    write(root, {"scenarios/one.yaml": SCENARIO.replace("contains", "contians")})
    lines = message(root, config("prompt: sys.md, context: [a.md]")).splitlines()
    assert [line.split(":")[0] for line in lines] == ["agentmut.yaml", "agentmut.yaml", "scenarios/one.yaml"]


def test_an_agent_on_the_command_line_is_for_test_specifications(root: Path) -> None:
    write(root, {"agentmut.yaml": AGENT})
    with pytest.raises(ProjectError, match="names its own agent"):
        load_project(root, agent="a:b")


MODEL = AGENT.replace(
    "run: my_agent:run", "run: my_agent:run, config: {prompt: prompts/p.md, model: {name: m, %s}}"
)


def test_every_setting_of_the_model_can_be_given(root: Path) -> None:
    given = (
        "temperature: 0.2, top_p: 0.9, max_tokens: 300, seed: 0, stop: [END], reasoning_effort: low,"
        " tool_choice: none, response_format: {type: json_object}"
    )
    model = load(root, MODEL % given, **{"prompts/p.md": "Be polite."}).config.model
    assert (model.temperature, model.top_p, model.max_tokens, model.seed) == (0.2, 0.9, 300, 0)
    assert (model.stop, model.reasoning_effort, model.tool_choice) == (("END",), "low", "none")
    assert model.response_format == {"type": "json_object"}


@pytest.mark.parametrize(
    ("given", "pieces"),
    [
        ("stop: END", ["agent.config.model.stop", "should be a list", "END"]),
        ("stop: [1]", ["agent.config.model.stop[0]", "should be text"]),
        ("reasoning_effort: 3", ["agent.config.model.reasoning_effort", "should be text"]),
        ("max_tokens: 0", ["agent.config.model.max_tokens", "greater than or equal to 1"]),
        ("top_p: 3", ["agent.config.model.top_p", "less than or equal to 1"]),
        ("temperature: -1", ["agent.config.model.temperature", "greater than or equal to 0"]),
        ("tool_choise: auto", ["agent.config.model.tool_choise", "unknown key", "tool_choice"]),
    ],
)
def test_settings_of_the_model_that_make_no_sense_are_refused(
    root: Path, given: str, pieces: list[str]
) -> None:
    refused(root, MODEL % given, pieces)


@pytest.mark.parametrize("pattern", ["orchestration.*", "orchestration", "tool.re*", "tool.remove"])
def test_operators_are_named_by_patterns_as_on_the_command_line(root: Path, pattern: str) -> None:
    settings = load(root, f"{AGENT}mutation: {{operators: ['{pattern}']}}\n").mutation
    known = names(Group.OPERATORS)
    found = Selection().operators(known, settings)
    assert found == Selection(operators_named=(pattern,)).operators(known, MutationSettings())
    assert found and all(name.startswith(pattern.rstrip("*")) for name in found)
