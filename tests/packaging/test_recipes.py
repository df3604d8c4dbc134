"""The recipes of CONTRIBUTING.md, each carried out by a package that knows nothing of this repository.

A recipe's file and its line of registration become an installed distribution; its check runs in pytest, and its use on
the command line.
"""

import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("warm")]

ROOT = Path(__file__).parents[2]
AGENT = "def run(config, input):\n    return 'Yes, please: it is on its way.' if config.prompt else ''\n"
PROJECT = """
version: 1
agent: {adapter: python, run: "my_agent:run", config: {prompt: "Say hello. Help."}}
suite: {scenarios: scenarios.yaml}
"""
SCENARIOS = '- {name: greeting, input: "Where is it?", evaluators: [{contains: please}]}\n'
REQUEST = '{"path": "/llm/ask", "body": {"model": "m", "messages": [{"role": "system", "content": "Never guess."}]}}'


class Recipe(NamedTuple):
    """The blocks of one section: the plugin's file, its registration, its check and its use."""

    file: str
    source: str
    registration: str
    check: str
    use: str


def recipes() -> dict[str, Recipe]:
    """Read the sections under "Adding a part" by their headings."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Adding a part")[2]
    return {section.split("\n")[0]: _recipe(section) for section in text.split("\n### ")[1:]}


def _recipe(section: str) -> Recipe:
    blocks = [textwrap.dedent(block) for block in re.findall(r"^ +```\w+\n(.*?)^ +```", section, re.M | re.S)]
    (file,) = re.findall(r"`(my_\w+\.py)`", section)
    source, registration, check, use = blocks
    return Recipe(file, source, registration, check, use)


RECIPES = recipes()


PROGRAM = [sys.executable, "-IS", str(ROOT / "tests" / "testdata" / "warm_cli.py"), "-c"]
"""A process in which agentmut is already imported, for a program that comes as the next argument."""
COMMAND = "from agentmut.cli import main; main()"
CHECK = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
OTHERS = [
    f"-pno:{plugin}" for plugin in ("deepeval", "langsmith_plugin", "hypothesispytest", "anyio", "asyncio")
]
"""Plugins of pytest that this environment has and no recipe needs: each run would import them."""


def agentmut(folder: Path, *arguments: str) -> str:
    """Run the command line in a folder whose modules and distributions can be imported."""
    return carried_out(folder, program(folder, COMMAND), *arguments)


def program(folder: Path, code: str) -> list[str]:
    """Give the command that runs a program which can import what stands in the folder."""
    return [*PROGRAM, f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"]


def carried_out(folder: Path, command: list[str], *arguments: str) -> str:
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(folder: Path, recipe: Recipe) -> None:
    """Write the plugin as an installed distribution, beside a small project."""
    (folder / recipe.file).write_text(recipe.source)
    groups = tomllib.loads(recipe.registration)["project"]["entry-points"]
    lines = [f"[{group}]\n{name} = {value}" for group, one in groups.items() for name, value in one.items()]
    metadata = folder / "mine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "request.json").write_text(REQUEST)
    (folder / "desk.persona").write_text("Desk\nNever promise a refund.\n")


def use(folder: Path, name: str, recipe: Recipe) -> str:
    """Do what step 4 says: run its command, or put its lines into the project and test the agent."""
    if name == "An evaluator":
        (folder / "scenarios.yaml").write_text(recipe.use)
        return agentmut(folder, "test", "--yes")
    if name == "An adapter":
        (folder / "agentmut.yaml").write_text(recipe.use + "suite: {scenarios: scenarios.yaml}\nversion: 1\n")
        (folder / "scenarios.yaml").write_text(SCENARIOS.replace("please", "sorry"))
        return agentmut(folder, "simulate", "--", *program(folder, COMMAND), "test", "--yes")
    if name == "An importer of another tool's suite":
        (folder / "agentmut.yaml").write_text(
            PROJECT.replace("suite: {scenarios: scenarios.yaml}", recipe.use)
        )
        return agentmut(folder, "test", "--yes")
    if name == "A format of recorded runs":
        (folder / "agentmut.yaml").write_text(recipe.use + "version: 1\n")
        return agentmut(folder, "test")
    if name == "A report format":
        agentmut(folder, "run", "--yes")
    return agentmut(folder, *recipe.use.split()[1:])


def test_there_is_a_recipe_for_each_seam() -> None:
    groups = {
        group
        for one in RECIPES.values()
        for group in tomllib.loads(one.registration)["project"]["entry-points"]
    }
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert groups == {group for group in declared if group.startswith("agentmut.")}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_five_steps(name: str) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition(f"### {name}\n")[2].partition("\n### ")[0]
    assert re.findall(r"^(\d)\. ", text, re.M) == list("12345")


SHOWN = {
    "An operator": "drop the greeting",
    "An evaluator": "PASS",
    "A relation": "perturbation.shouting",
    "An adapter": "greeting",
    "An importer of another tool's suite": "row_1",
    "A reader of another tool's agent file": "desk.persona:2",
    "A format of recorded runs": "40/40",
    "A report format": "mutant\toperator\tstatus",
    "A codec of a model service": "Never guess",
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works_outside_of_this_package(name: str, tmp_path: Path) -> None:
    recipe = RECIPES[name]
    install(tmp_path, recipe)
    (tmp_path / "test_mine.py").write_text(recipe.check)
    pytest_run = program(tmp_path, CHECK)
    checked = carried_out(tmp_path, pytest_run, "-q", "-pno:cacheprovider", *OTHERS, "test_mine.py")
    assert "1 passed" in checked
    assert SHOWN[name] in use(tmp_path, name, recipe)
