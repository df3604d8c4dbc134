"""A small real project whose agent answers about orders, and relations of its own."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.project.loading import load_project
from agentmut.project.project import Project

AGENT = '''
import hashlib

from agentmut.recording.current import current_trial


def uniform(*parts):
    text = repr((current_trial().id, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") / 2**64


def run(config, input):
    """Says how many words it was given; how reliably is what tests change."""
    if "Answer" not in config.prompt:
        return "hm"
    answer = f"The order has {NUMBER} items."
    if uniform("own") < NOISE:
        answer = f"The order has {NUMBER + 1} items."
    if input.isupper() and uniform("upper") < SHOUTED_AT:
        answer = "The order has 99 items."
    if input.isupper() and uniform("raise") < RAISES:
        raise RuntimeError("do not shout")
    if uniform("scatter") < SCATTER:
        answer = f"The order has {int(10**6 * uniform('which'))} items."
    if "Be brief." not in config.prompt:
        answer += " Let me tell you more about that, as there is so much to be said of orders."
    return answer


NUMBER = 12
NOISE = 0.0
SHOUTED_AT = 0.0
RAISES = 0.0
SCATTER = 0.0
'''

RELATIONS = """
from agentmut.nouns.mutant import Edit, prompt_edit
from agentmut.nouns.relation import Expectation, Family, FollowUp, FollowUpRun
from agentmut.nouns.trace import Check


class Base:
    version = 1
    why = "it matters how it is written"

    def __init__(self, argument=None):
        if argument is not None:
            raise ValueError("takes no argument")

    def lack(self, scenario, config):
        return "" if isinstance(scenario.turns[0], str) else "its input is no text"

    def holds(self, pair):
        differences = pair.comparison.differences(pair.scenario, pair.source, pair.trace)
        return Check(evaluator=self.id, passed=not differences, reason="; ".join(differences))

    def examples(self):
        return ()


class Upper(Base):
    id = "perturbation.upper"
    family = Family.PERTURBATION
    expectation = Expectation.INVARIANT

    def follow_up(self, source):
        turns = tuple(turn.upper() for turn in source.scenario.turns)
        return FollowUp(runs=(FollowUpRun(turns=turns),), description="in capitals")


class Politer(Base):
    id = "perturbation.politer"
    family = Family.PERTURBATION
    expectation = Expectation.INVARIANT

    def follow_up(self, source):
        end = len(source.config.prompt)
        edit = prompt_edit(source.config.prompt, end, end, " Be polite.")
        return FollowUp(runs=(FollowUpRun(edits=(edit,)),), description="asked to be polite")


class Brief(Base):
    id = "oracle.brief"
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "the answer is too long"

    def follow_up(self, source):
        return FollowUp(description="nothing")

    def holds(self, pair):
        words = len(pair.source.text.split())
        return Check(evaluator=self.id, passed=words <= 8, reason=f"{words} words, 8 are allowed")


class Documents(Base):
    id = "permutation.documents"
    family = Family.PERMUTATION
    expectation = Expectation.INVARIANT

    def lack(self, scenario, config):
        return "" if len(config.context) > 1 else "there are no two documents"

    def follow_up(self, source):
        raise AssertionError("never asked for")


class Shouted(Upper):
    id = "perturbation.shouted"


class Exact(Base):
    id = "oracle.exact"
    family = Family.ORACLE
    expectation = Expectation.INVARIANT

    def follow_up(self, source):
        return FollowUp(runs=(FollowUpRun(),), description="asked again")

    def holds(self, pair):
        return Check(evaluator=self.id, passed=pair.source.text == pair.trace.text, reason="another text")


class Cooler(Base):
    id = "perturbation.cooler"
    family = Family.PERTURBATION
    expectation = Expectation.INVARIANT

    def follow_up(self, source):
        edit = Edit(pointer="/model/temperature", before=source.config.model.temperature, after=0.125)
        return FollowUp(runs=(FollowUpRun(edits=(edit,)),), description="another temperature")


class Pedantic(Base):
    id = "oracle.pedantic"
    family = Family.ORACLE
    expectation = Expectation.PREDICATE

    def follow_up(self, source):
        return FollowUp(description="nothing") if "13" in source.trace.text else None

    def holds(self, pair):
        return Check(evaluator=self.id, passed=False, reason="thirteen")


class Twice(Base):
    id = "composition.twice"
    family = Family.COMPOSITION
    expectation = Expectation.PREDICATE

    def follow_up(self, source):
        upper = tuple(turn.upper() for turn in source.scenario.turns)
        runs = (FollowUpRun(turns=upper), FollowUpRun(turns=upper), FollowUpRun())
        return FollowUp(runs=runs, description="in capitals, twice, and again")

    def holds(self, pair):
        told = [trace.text for trace in pair.traces]
        different = len({pair.source.text, *told}) == 4
        return Check(evaluator=self.id, passed=different, reason=repr(told))


class Silent(Exact):
    id = "oracle.silent"

    def holds(self, pair):
        return None


class Odd(Base):
    id = "oracle.odd"
    family = Family.ORACLE
    expectation = Expectation.PREDICATE

    def __init__(self, argument):
        self.mode = argument

    def lack(self, scenario, config):
        return {"lack leaves": lambda: exit(0), "lack is true": lambda: True}.get(self.mode, lambda: "")()

    def follow_up(self, source):
        if self.mode == "turns are no JSON":
            return FollowUp(runs=(FollowUpRun(turns=(float("nan"),)),), description="not a number")
        return {"follow-up leaves": lambda: exit(3), "follow-up is a text": lambda: "again"}[self.mode]()


class Broken(Base):
    id = "oracle.broken"
    family = Family.ORACLE
    expectation = Expectation.PREDICATE

    def follow_up(self, source):
        return FollowUp(runs=(FollowUpRun(),), description="again")

    def holds(self, pair):
        raise ZeroDivisionError("oops")
"""
OWN = ("Upper", "Politer", "Brief", "Documents")


class Shop:
    """Writes the project; every agent and every set of relations is a module of its own."""

    def __init__(self, folder: Path, tables: Path) -> None:
        self.folder = folder
        (folder / ".agentmut").mkdir()
        (folder / ".agentmut" / "tables").symlink_to(tables)
        self._name = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
        self._written = 0

    def write(
        self,
        own: tuple[str, ...] = OWN,
        use: list[Any] | None = None,
        scenarios: tuple[str, ...] = ("count",),
        extra: dict[str, Any] | None = None,
        **agent: float,
    ) -> Project:
        """A project whose agent has these rates; `extra` are sections of its file."""
        self._written += 1
        module = f"agent_{self._name}_{self._written}"
        self.agent(module, **agent)
        (self.folder / f"relations_{self._name}.py").write_text(RELATIONS)
        suite = [
            {
                "name": name,
                "input": f"How many items are in the {name} order?",
                "evaluators": [{"contains": "items"}],
            }
            for name in scenarios
        ]
        (self.folder / "scenarios.yaml").write_text(yaml.safe_dump(suite))
        references = [f"relations_{self._name}:{name}" for name in own]
        names = use if use is not None else ["perturbation.upper", "oracle.brief"]
        document: dict[str, Any] = {
            "version": 1,
            "agent": {
                "adapter": "python",
                "run": f"{module}:run",
                "config": {"prompt": "Answer questions about orders. Be brief."},
            },
            "suite": {"scenarios": "scenarios.yaml"},
            "relations": {"own": references, "use": names, "sources": 45, "pairs": 30},
        }
        for name, section in (extra or {}).items():
            document[name] = {**document.get(name, {}), **section}
        (self.folder / "agentmut.yaml").write_text(yaml.safe_dump(document))
        return load_project(self.folder)

    def agent(self, module: str, **rates: float) -> None:
        for old in self.folder.glob("agent_*.py"):
            old.unlink()
        lines = [f"{name.upper()} = {value!r}" for name, value in rates.items()]
        (self.folder / f"{module}.py").write_text("\n".join([AGENT, *lines]) + "\n")


@pytest.fixture(scope="session")
def decision_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture
def shop(tmp_path: Path, decision_tables: Path) -> Iterator[Shop]:
    yield Shop(tmp_path, decision_tables)


@pytest.fixture(scope="session")
def make_shop(tmp_path_factory: pytest.TempPathFactory, decision_tables: Path) -> Callable[[], Shop]:
    return lambda: Shop(tmp_path_factory.mktemp("shop"), decision_tables)
