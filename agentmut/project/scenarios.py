"""Read scenario files: found by glob, read in sorted order, turned into `Scenario`s."""

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentmut._base import ProjectError, UsageError, YamlSource, joined, nearest, read_yaml, validated
from agentmut.judging import build, build_extractor, with_files
from agentmut.nouns import Document, EvaluatorSpec, Scenario
from agentmut.project.config import collecting
from agentmut.project.guidance import Named
from agentmut.project.parts import read_documents
from agentmut.project.schema import ScenarioEntry, ScenarioFile
from agentmut.seams import Catalogue, Group


@dataclass(frozen=True)
class LocatedScenario:
    """A scenario and its place, as `file:line`."""

    scenario: Scenario
    where: str
    evaluators: tuple[str, ...]
    """The places of its evaluators."""


def find_scenario_files(patterns: str | Sequence[str], root: Path) -> tuple[str, ...]:
    """Return the matching files, sorted, relative to `root`. Raise `ProjectError` for a pattern without a match."""
    files: set[str] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        matched = glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207 - patterns may be absolute
        matched = matched or [pattern]  # a file's own name may look like a pattern
        found = {Path(name).as_posix() for name in matched if (root / name).is_file()}
        if not found:
            raise ProjectError(f"no scenario file matches {pattern!r} in {root}. {_remedy(pattern, root)}")
        files |= found
    return tuple(sorted(files))


def _remedy(pattern: str, root: Path) -> str:
    """Return what to write instead of a pattern that no file matches."""
    folder = root / pattern
    if pattern and folder.is_dir():
        fitting = next((f"*{end}" for end in (".yaml", ".yml") if any(folder.glob(f"*{end}"))), "")
        instead = f"{pattern.rstrip('/')}/{fitting or '*.yaml'}"
        return f"It is a folder; write {instead!r}" + (
            "" if fitting else ", and a scenario file in it; `agentmut init` makes an example"
        )
    return "Correct the pattern, or write one; `agentmut init` makes an example"


def read_scenarios(
    files: Iterable[str], root: Path, tools: Sequence[str] = ()
) -> tuple[LocatedScenario, ...]:
    """Return the scenarios of these files, in order.

    `tools` are the agent's tool names when they are known: a double for any other is refused, since it
    would leave the real tool in place. Raises `ProjectError` with every problem of every file.
    """
    found: list[LocatedScenario] = []
    problems: list[str] = []
    for file in files:
        try:
            found += _read_file(file, root, tools)
        except ProjectError as error:
            problems.append(str(error))
    problems += _duplicates(found)
    if problems:
        raise ProjectError(joined(problems))
    return tuple(found)


def _read_file(label: str, root: Path, tools: Sequence[str]) -> list[LocatedScenario]:
    source = read_yaml(root / label, label)
    if not isinstance(source.value, list):
        raise ProjectError(source.problem((), "expected a list of scenarios, each beginning with `- name:`"))
    entries = validated(source, ScenarioFile).root
    if not entries:
        raise ProjectError(source.problem((), "has no scenarios; write at least one"))
    reader = _EntryReader(source, root, tools)
    scenarios = [reader.read(index, entry) for index, entry in enumerate(entries)]
    if reader.problems:
        raise ProjectError(joined(reader.problems))
    return [found for found in scenarios if found]


class _EntryReader:
    """Reads the entries of one file and collects their faults."""

    def __init__(self, source: YamlSource, root: Path, tools: Sequence[str]) -> None:
        self.source = source
        self.root = root
        self.tools = tools
        self.evaluators = Catalogue.from_group(Group.EVALUATORS)
        self.problems: list[str] = []
        self._checked = collecting(source, self.problems)

    def read(self, index: int, entry: ScenarioEntry) -> LocatedScenario | None:
        """Return the scenario of an entry; None if it has faults, which are noted."""
        before = len(self.problems)
        turns = self._checked((index,), lambda: _turns(entry))
        context = self._checked((index, "context"), lambda: tuple(read_documents(entry.context, self.root)))
        specs = tuple(self._evaluators(index, entry))
        compare = tuple(self._compare(index, entry))
        self._check_doubles(index, entry)
        if len(self.problems) > before:
            return None
        scenario = self._scenario(entry, turns, context, specs, compare)
        places = tuple(self._place(index, "evaluators", number) for number in range(len(specs)))
        return LocatedScenario(scenario, self._place(index), places)

    def _place(self, *path: str | int) -> str:
        return f"{self.source.label}:{self.source.line(path)}"

    def _scenario(
        self,
        entry: ScenarioEntry,
        turns: Any,
        context: Any,
        specs: tuple[EvaluatorSpec, ...],
        compare: tuple[EvaluatorSpec, ...],
    ) -> Scenario:
        kept = {"name", "category", "threshold", "tools", "setup", "teardown"}
        shared = {name: getattr(entry, name) for name in kept}
        documents: tuple[Document, ...] = context
        return Scenario(turns=turns, evaluators=specs, context=documents, compare=compare, **shared)

    def _evaluators(self, index: int, entry: ScenarioEntry) -> Iterator[EvaluatorSpec]:
        for number, written in enumerate(entry.evaluators):
            spec = self._checked(
                (index, "evaluators", number), partial(evaluator_spec, written, self.evaluators, self.root)
            )
            if spec:
                yield spec

    def _compare(self, index: int, entry: ScenarioEntry) -> Iterator[EvaluatorSpec]:
        for number, written in enumerate(entry.compare):
            spec = self._checked((index, "compare", number), partial(compared, written))
            if spec:
                yield spec

    def _check_doubles(self, index: int, entry: ScenarioEntry) -> None:
        for name in entry.tools:
            if self.tools and name not in self.tools:
                said = f"the agent has no tool {name!r}. {nearest(name, self.tools)}"
                self.problems.append(self.source.problem((index, "tools", name), said))


def _turns(entry: ScenarioEntry) -> tuple[JsonValue, ...]:
    given = entry.model_fields_set & {"input", "turns"}
    if given == {"input", "turns"}:
        raise UsageError(f"scenario {entry.name!r} has both input and turns; keep one of them")
    if entry.turns is not None:
        return entry.turns
    if entry.input is None:
        raise UsageError(f"scenario {entry.name!r} needs input (or turns, for several)")
    return (entry.input,)


def named(written: Named) -> EvaluatorSpec:
    """Return a name with its argument, from `name` or `{name: argument}`."""
    if isinstance(written, str):
        return EvaluatorSpec(name=written)
    ((name, argument),) = written.items()
    return EvaluatorSpec(name=name, argument=argument)


def compared(written: Named) -> EvaluatorSpec:
    """Return the facts that a key `compare` names. Raise `UsageError` for unknown names and wrong arguments."""
    spec = named(written)
    build_extractor(spec)
    return spec


def evaluator_spec(written: dict[str, JsonValue], installed: Catalogue, root: Path) -> EvaluatorSpec:
    """Return an evaluator as a scenario file has it. Raise `UsageError` for one that cannot be built."""
    if len(written) != 1:
        keys = ", ".join(written) or "none"
        raise UsageError(
            f"an evaluator is a mapping with one key, here: {keys}. Begin a new list item for each"
        )
    ((name, argument),) = written.items()
    spec = with_files(EvaluatorSpec(name=name, argument=argument), installed, root)
    build(spec, installed)  # unknown names and bad arguments are errors of the file
    return spec


def _duplicates(found: Iterable[LocatedScenario]) -> Iterator[str]:
    first: dict[str, str] = {}
    for located in found:
        name = located.scenario.name
        if name in first:
            yield f"{located.where}: the scenario name {name!r} is taken ({first[name]}); names are unique"
        first.setdefault(name, located.where)
