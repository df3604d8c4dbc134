"""Revisions that nobody would name, and agents that were damaged at a revision: inputs of `--in-diff`."""

import os
import random
import subprocess
from pathlib import Path

from agentmut._base import UsageError
from agentmut.campaign import AgentFiles, changes_since
from agentmut.nouns import AgentConfig
from agentmut.project import read_config_file
from benchmarks.fuzz_files import Input, changed, cut

NAMES = (
    "HEAD",
    "main",
    "HEAD~1",
    "main...",
    "...",
    "HEAD...main",
    "HEAD^{tree}",
    "HEAD:agent.yaml",
    "v1",
    "@{-1}",
    ":/x",
)
ODD = [*"~^@{}:.-*?[\\ \n\té\udcff", "--all", "..", "...", "HEAD", "9" * 30]
PROJECT = (
    'version: 1\nagent: {adapter: python, run: "a:run", config: {prompt: prompt.md, tools: [{name: look}]}}\n'
)
CONFIG = "prompt: |\n  Be brief.\n  Be kind.\ntools:\n  - {name: look, description: Look it up.}\ncontext: [a.md]\n"
SCENARIOS = "- {name: s, input: hi, evaluators: [{contains: x}]}\n"


class Revisions:
    """A repository with a project and a config file, made once, and inputs that ask for its history."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._git("init", "--quiet", "--initial-branch", "main")
        files = {
            "agent.yaml": CONFIG,
            "agentmut.yaml": PROJECT,
            "prompt.md": "- Be brief.\n",
            "a.md": "Open: 9.\n",
        }
        files |= {
            "scenarios/s.yaml": SCENARIOS,
            "a.py": "def run(config, input):\n    return config.prompt\n",
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        self._commit()
        self._commit()
        self._git("tag", "v1")

    def named(self, rng: random.Random) -> Input:
        """Return a name of a revision with some of its characters changed."""
        name = rng.choice(NAMES)
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(name))
            name = name[:at] + rng.choice(ODD) + name[at + rng.randint(0, 1) :]
        described = AgentFiles(self._folder / "absent_then.yaml", bare=True)  # so that no old agent is loaded
        return Input(
            "--in-diff, names of revisions",
            repr(name),
            lambda: changes_since(name, described, AgentConfig(prompt="x")),
            UsageError,
        )

    def old_agent(self, rng: random.Random) -> Input:
        """Return an agent whose files were damaged at the revision that is asked for."""
        name = rng.choice(("agent.yaml", "agentmut.yaml", "prompt.md", "scenarios/s.yaml", "a.md"))
        path, bare = self._folder / name, rng.random() < 0.5
        whole = path.read_bytes()
        damaged = cut(whole, rng) if rng.random() < 0.5 else changed(whole.decode(), rng).encode()
        described = AgentFiles(
            self._folder / ("agent.yaml" if bare else "agentmut.yaml"), bare, scenarios=("s",)
        )

        def ask() -> object:
            path.write_bytes(damaged)
            self._commit()
            path.write_bytes(whole)
            return changes_since("HEAD", described, read_config_file(self._folder / "agent.yaml").config)

        return Input("--in-diff, agents of a revision", f"{name}: {damaged!r}"[:600], ask, UsageError)

    def _commit(self) -> None:
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "x")

    def _git(self, *arguments: str) -> None:
        named = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}
        named |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "-C", str(self._folder), *arguments], check=True, env={**os.environ, **named})
