"""Small real projects whose agent is a coin: every outcome is a function of the trial's id."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.nouns.result import Result
from agentmut.project.loading import load_project
from agentmut.project.project import Project

AGENT = '''
import asyncio, hashlib, os, random

from agentmut.recording.current import current_trial


def uniform(*parts):
    text = repr((current_trial().id, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") / 2**64


def follows(config, word):
    """Whether the answer keeps the rule about `word`: usually, if the prompt states it."""
    return uniform(word) < (RATES.get(word, 0.95) if f"say {word}" in config.prompt else WITHOUT)


WITHOUT = 0.2
RATES = {}
LATENCY = 0.0


async def run(config, input):
    if LATENCY:
        await asyncio.sleep(random.random() * LATENCY)
    word = input.split()[-1]
    return word if follows(config, word) else "no idea"
'''


class Projects:
    """Writes projects into a folder. Each has an agent module of its own, so that nothing is cached."""

    AGENT = AGENT

    def __init__(self, folder: Path, tables: Path) -> None:
        self.folder = folder
        (folder / ".agentmut").mkdir()
        (folder / ".agentmut" / "tables").symlink_to(tables)  # computing them again would take longest
        self.module = "agent_" + hashlib.sha256(str(folder).encode()).hexdigest()[:12]

    def write(
        self,
        words: tuple[str, ...] = ("alpha", "beta", "gamma"),
        *,
        extra: str = "",
        agent: str = AGENT,
        idle: int = 2,
        scenario: Callable[[str], dict[str, Any]] = lambda word: {},
        agent_section: dict[str, Any] | None = None,
        **sections: dict[str, Any],
    ) -> Project:
        """A project with a rule and a scenario for each word, and `idle` rules that nothing depends on."""
        self.write_agent(agent + extra)
        rules = [f"Always say {word} when asked for {word}." for word in words]
        rules += [f"Never provide topic number {i} in your answer." for i in range(idle)]
        (self.folder / "prompt.md").write_text("\n".join(f"- {rule}" for rule in rules) + "\n")
        suite = [
            {
                "name": word,
                "input": f"please say {word}",
                "evaluators": [{"contains": word}],
                **scenario(word),
            }
            for word in words
        ]
        (self.folder / "scenarios.yaml").write_text(yaml.safe_dump(suite))
        agent_keys = {"adapter": "python", "run": f"{self.module}:run", "config": {"prompt": "prompt.md"}}
        config: dict[str, Any] = {
            "version": 1,
            "agent": {**agent_keys, **(agent_section or {})},
            "suite": {"scenarios": "scenarios.yaml"},
            "mutation": {"operators": ["prompt.drop_instruction"]},
            "statistics": {"baseline": 40, "rounds": "one"},  # one round: what single decisions come to
        }
        for name, section in sections.items():
            config[name] = {**config.get(name, {}), **section}
        (self.folder / "agentmut.yaml").write_text(yaml.safe_dump(config))
        return self.load()

    def write_agent(self, text: str) -> None:
        (self.folder / f"{self.module}.py").write_text(text)
        # what was compiled of another text of this size within the same second would be taken for its own
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)

    def load(self) -> Project:
        return load_project(self.folder)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture
def projects(tmp_path: Path, tables: Path) -> Projects:
    return Projects(tmp_path, tables)


class Told:
    """What a result says about each mutant, by what was changed; ids and costs left out."""

    def __call__(self, result: Result) -> dict[str, tuple[Any, ...]]:
        return {
            row.before: (row.status, row.killed_by, row.trials, row.evidence, row.reason)
            for row in result.mutants
        }


@pytest.fixture(scope="session")
def told() -> Told:
    return Told()


@pytest.fixture(scope="session")
def make_projects(tmp_path_factory: pytest.TempPathFactory, tables: Path) -> Callable[[str], Projects]:
    return lambda name: Projects(tmp_path_factory.mktemp(name), tables)
