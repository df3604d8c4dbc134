"""What a case is, and how it is put to the test: through the whole check, as a user would run it."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentmut.store.documents.relation_report import RelationReport
from agentmut.usecases.relations import check_relations

Agent = Callable[..., Any]
"""`run(config, input)`, at the top of a module."""


class Size(NamedTuple):
    """How many runs a check takes."""

    sources: int = 60
    pairs: int = 30
    delta: float = 0.3


STUDY, QUICK = Size(), Size(sources=30, pairs=18)
"""Of the study, and of `make test`."""


class Case(NamedTuple):
    """A relation, an agent that violates it, and one that does not, on the same requests."""

    relation: str
    planted: str
    """The fault, in a phrase."""
    faulty: Agent
    correct: Agent
    scenarios: tuple[Mapping[str, Any], ...]
    """As in a scenario file."""
    prompt: str = "You answer customers of Fernhill Outdoor. Say what the documents say."
    documents: Mapping[str, str] = {}
    """Name of a file -> its text."""
    tools: str = ""
    """`module:object` of the tools that the model is offered."""
    argument: Any = None
    """Of the relation."""
    size: Size | None = None
    """Where the usual one is too small or too large."""

    @property
    def name(self) -> str:
        """Relation and fault, as tests and tables call the case."""
        return f"{self.relation}: {self.planted}"


def check(
    case: Case, agent: Agent, *, seed: int = 0, size: Size = QUICK, extra: tuple[str, ...] = ()
) -> RelationReport:
    """What `agentmut relations` says of the agent, asked for the relation of the case (and for `extra` ones).

    The simulator has to be at `OPENAI_BASE_URL`, and the folder that holds `tests` on `sys.path`.
    """
    with tempfile.TemporaryDirectory(prefix="agentmut-case-") as folder:
        project = _project(Path(folder), case, agent, case.size or size, extra)
        return check_relations(project, seed=seed)


def _project(folder: Path, case: Case, agent: Agent, size: Size, extra: tuple[str, ...]) -> Path:
    for name, text in case.documents.items():
        (folder / name).write_text(text, encoding="utf-8")
    named = case.relation if case.argument is None else {case.relation: case.argument}
    config: dict[str, Any] = {"prompt": case.prompt, "model": {"provider": "openai", "name": "sim-large"}}
    config |= {"context": list(case.documents)} if case.documents else {}
    config |= {"tools": case.tools} if case.tools else {}
    whole = {
        "version": 1,
        "agent": {"adapter": "python", "run": f"{agent.__module__}:{agent.__qualname__}", "config": config},
        "suite": {"scenarios": "scenarios.yaml"},
        "relations": {"use": [named, *extra], "sources": size.sources, "pairs": size.pairs},
        "statistics": {"seed": 1, "delta": size.delta},
    }
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([dict(one) for one in case.scenarios]))
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(whole))
    return folder
