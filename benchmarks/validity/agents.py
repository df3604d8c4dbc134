"""The agents and faults of the study, and projects in folders of their own that are made of them."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODEL = "AGENTMUT_STUDY_MODEL"
"""The environment variable that names a real model to take the place of the simulated one."""


class Agent(BaseModel):
    """A project with the pool of scenarios that is judged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    folder: str
    file: str
    pool: str

    def write(self, folder: Path) -> Path:
        """Copy the project with the pool as its suite into an empty folder; return its project file."""
        copy = folder / Path(self.folder).name
        shutil.copytree(ROOT / self.folder, copy, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
        shutil.copy(HERE / "pools" / self.pool, copy / "pool.yaml")
        project = yaml.safe_load((copy / self.file).read_text("utf-8"))
        project["suite"] = {"scenarios": "pool.yaml", "threshold": 0.8}
        project["mutation"] = {"downgrade_models": ["sim-small"]}  # all operators that are on by default
        project.pop("budget", None)
        if model := os.environ.get(MODEL):
            project["agent"]["config"]["model"]["name"] = model
        (copy / self.file).write_text(yaml.safe_dump(project), "utf-8")
        return copy / self.file


class Patch(BaseModel):
    """A text of one file of the project, and what takes its place."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    old: str
    new: str

    def apply(self, folder: Path) -> None:
        """Change the file. Raises `ValueError` where it does not have the text exactly once."""
        path = folder / self.file
        text = path.read_text("utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {text.count(self.old)} times, not once")
        path.write_text(text.replace(self.old, self.new), "utf-8")


class Fault(BaseModel):
    """A regression that is written by hand as a patch and shares no code with the operators."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    agent: str
    kind: Literal["tool", "code", "prompt", "document", "history", "reply"]
    """What is patched: a tool, the agent's code, prompt or documents, the messages it sends, the reply it uses."""
    like: str
    """Ids of documented incidents that it resembles (docs/incidents.md), or what it is modelled on."""
    patches: tuple[Patch, ...]

    @property
    def split(self) -> str:
        """Return `test` or `development`, by a digest of the name: nobody chooses."""
        return "test" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "development"


class Study(NamedTuple):
    """What is run."""

    agents: Sequence[Agent]
    faults: Sequence[Fault]

    @classmethod
    def read(cls) -> "Study":
        """Read agents and faults. Raises `ValueError` for a fault of an agent that there is not."""
        agents = [Agent.model_validate(each) for each in _yaml("agents.yaml")]
        files = sorted(path.name for path in (HERE / "faults").glob("*.yaml"))
        faults = [Fault.model_validate(each) for name in files for each in _yaml(f"faults/{name}")]
        unknown = {fault.agent for fault in faults} - {agent.name for agent in agents}
        if unknown:
            raise ValueError(f"the faults name agents that are not in agents.yaml: {', '.join(unknown)}")
        return cls(agents, faults)

    def only(self, names: Sequence[str]) -> "Study":
        """Return the part of these agents. Raises `ValueError` for an agent that there is not."""
        agents = [agent for agent in self.agents if agent.name in names]
        if unknown := {*names} - {agent.name for agent in agents}:
            raise ValueError(f"agents.yaml has no agent {', '.join(sorted(unknown))}")
        return Study(agents, [fault for fault in self.faults if fault.agent in names])

    def of(self, agent: Agent) -> Iterator[Fault]:
        """Yield the faults of an agent."""
        return (fault for fault in self.faults if fault.agent == agent.name)


def frozen_digest(faults: Sequence[Fault]) -> str:
    """Return the digest of the test faults, by which a reader sees that they were not changed afterwards."""
    texts = sorted(fault.model_dump_json() for fault in faults if fault.split == "test")
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _yaml(name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = yaml.safe_load((HERE / name).read_text("utf-8"))
    return found
