"""Write a user's choices into scenario files; every other byte stays unchanged."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from agentmut._base import (
    AgentmutError,
    Edit,
    ProjectError,
    StoreError,
    UsageError,
    compose,
    edit_together,
    refuse_read_only,
    unwritten,
)
from agentmut.nouns import AssertionSuggestion, EvaluatorSpec, Scenario, ScenarioSuggestion
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.project.scenario_text import evaluator_in_flow, evaluator_text, scenario_item

SUGGESTED = "suggested.yaml"
UNCONFIRMED = "Proposed by agentmut from what the agent did: right only if you say so."

Suggestion = AssertionSuggestion | ScenarioSuggestion


def apply_suggestions(project: Project, chosen: Iterable[Suggestion]) -> tuple[Path, ...]:
    """Write suggestions into the scenario files of a project, and return the files that changed.

    Assertions are added at the end of their scenario's evaluators, unless they stand there. New scenarios go to
    `suggested.yaml` beside the first scenario file, or to the end of the last file where the project would not read
    that one. The project is then read again: if it does not come out as expected, every file is put back and
    `UsageError` says what to write by hand.
    """
    chosen = tuple(chosen)
    changed = _Files(project)
    for one in chosen:
        if isinstance(one, AssertionSuggestion):
            changed.add_evaluator(one.scenario, one.evaluator)
    new = [one.scenario for one in chosen if isinstance(one, ScenarioSuggestion)]
    _refuse_taken(project, new)
    for scenario in new:
        changed.add_scenario(scenario)
    return changed.write(_expected(project, chosen))


class _Files:
    """The scenario files of a project, with changes that are not yet written."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._before: dict[Path, str | None] = {}
        self._after: dict[Path, str] = {}
        self._new = self._place_of_new()

    def add_evaluator(self, scenario: str, spec: EvaluatorSpec) -> None:
        """Add an evaluator to an existing scenario."""
        where = self._project.sources.scenarios.get(scenario)
        if where is None:
            raise UsageError(_by_hand(scenario, spec, "it stands in no scenario file of the project"))
        if spec in self._evaluators(scenario):
            return
        path = self._project.root / where.rpartition(":")[0]
        after = with_evaluator(self._text(path), scenario, spec)
        if not _can_be_read(after):
            raise UsageError(_by_hand(scenario, spec, f"{path.name} is laid out in another way"))
        self._after[path] = after

    def add_scenario(self, scenario: Scenario) -> None:
        """Add a scenario at the end of the file for new ones."""
        before = self._text(self._new)
        gap = "\n" if before.endswith("\n") else "\n\n"
        if not before or before.endswith(("\n\n", "\n\r\n")):
            gap = ""
        text = scenario_item(scenario, UNCONFIRMED)
        after = before + (gap + text).replace("\n", _newline(before))
        if not _can_be_read(after):
            raise UsageError(
                f"no scenario can be added to {self._new.name}: it is laid out in another way. Write by hand:\n{text}"
            )
        self._after[self._new] = after

    def write(self, expected: Sequence[Scenario]) -> tuple[Path, ...]:
        """Write all changes, or none; a command that is killed meanwhile leaves all of them or none, too."""
        edits = [Edit(path, self._bytes_before(path), _bytes(text)) for path, text in self._after.items()]
        written = False
        try:
            for path in self._after:
                refuse_read_only(path)
            edit_together(self._project.root, edits)
            written = True
            self._check(expected)
        except BaseException as error:
            stuck = self._put_back(edits) if written else ""
            if stuck:
                raise StoreError(f"{stuck}, after: {error}") from error
            if isinstance(error, OSError):
                where = f": {error.filename}" if error.filename else ""
                said = f"the scenario files were not changed{where}"
                raise unwritten(said, error, "Make it writable.") from error
            if isinstance(error, AgentmutError):
                raise UsageError(f"the scenario files were not changed: {error}") from error
            raise
        return tuple(self._after)

    def _bytes_before(self, path: Path) -> bytes | None:
        before = self._before[path]
        return None if before is None else _bytes(before)

    def _check(self, expected: Sequence[Scenario]) -> None:
        found = {scenario.name: scenario for scenario in load_project(self._project.path).scenarios}
        for scenario in expected:
            if found.get(scenario.name) != scenario:
                raise ProjectError(
                    f"scenario {scenario.name} would not be read as it is meant. Give the command again, as another "
                    "command may have changed the file meanwhile. If that changes nothing, write it by hand:\n"
                    f"{scenario_item(scenario)}"
                )

    def _put_back(self, edits: Sequence[Edit]) -> str:
        """Restore the files that were written; return why they could not be restored."""
        try:
            edit_together(self._project.root, [Edit(one.path, one.after, one.before) for one in edits])
        except (OSError, AgentmutError) as error:
            names = ", ".join(str(one.path) for one in edits)
            return f"{names} changed and cannot be put back ({error}): take the change out by hand"
        return ""

    def _text(self, path: Path) -> str:
        if path not in self._after:
            self._before[path] = path.read_bytes().decode("utf-8", "surrogatepass") if path.exists() else None
        return self._after.get(path, self._before[path] or "")

    def _evaluators(self, scenario: str) -> tuple[EvaluatorSpec, ...]:
        (found,) = (one.evaluators for one in self._project.scenarios if one.name == scenario)
        return found

    def _place_of_new(self) -> Path:
        files = [
            self._project.root / where.rpartition(":")[0]
            for where in self._project.sources.scenarios.values()
        ]
        if not files:
            return self._project.root / SUGGESTED
        beside = files[0].with_name(SUGGESTED)
        return beside if beside in files or self._project.reads(beside) else files[-1]


class _Spot(NamedTuple):
    """The place where an evaluator is inserted."""

    at: int
    written: str


def with_evaluator(text: str, scenario: str, spec: EvaluatorSpec) -> str:
    """Return the text of a scenario file with an evaluator added. Raise `UsageError` if that is impossible."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    root = compose(body)
    entry = _entry(root, scenario)
    listed = _value(entry, "evaluators") if entry else None
    if entry is None or not isinstance(listed, yaml.SequenceNode) or not listed.value:
        raise UsageError(_by_hand(scenario, spec, "its list of evaluators was not found"))
    if listed.start_mark.index < entry.start_mark.index or _is_shared(root, listed):
        raise UsageError(_by_hand(scenario, spec, "its evaluators are a list that others share by an alias"))
    spot = _in_flow(listed, spec) if listed.flow_style else _below(body, listed, spec)
    return f"{mark}{body[: spot.at]}{spot.written}{body[spot.at :]}"


def _in_flow(listed: yaml.SequenceNode, spec: EvaluatorSpec) -> _Spot:
    return _Spot(listed.value[-1].end_mark.index, f", {evaluator_in_flow(spec)}")


def _below(body: str, listed: yaml.SequenceNode, spec: EvaluatorSpec) -> _Spot:
    """Return a new item below the last one, with the same indentation."""
    end = _end(listed.value[-1])
    newline = _newline(body)
    item = f"{' ' * _column(body, listed)}- {evaluator_text(spec)}"
    if end and body[end - 1] == "\n":  # a block of text ends with its line
        return _Spot(end, item + newline)
    line_end = body.find("\n", end)
    if line_end < 0:
        return _Spot(len(body), newline + item + newline)
    return _Spot(line_end + 1, item + newline)


def _column(body: str, listed: yaml.SequenceNode) -> int:
    """Return the column of a list's first dash; a list with an anchor or a tag begins with that, on another line."""
    dash = int(listed.start_mark.index)
    if body[dash] != "-":
        dash = body.rfind("-", 0, listed.value[0].start_mark.index)
    return dash - body.rfind("\n", 0, dash) - 1


def _end(node: yaml.Node) -> int:
    """Return where the last text of a node ends; a block collection ends where the next item begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _can_be_read(text: str) -> bool:
    """Return whether a changed text is still YAML."""
    try:
        return compose(text.removeprefix("\ufeff")) is not None
    except (yaml.YAMLError, AgentmutError):
        return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _entry(root: yaml.Node | None, scenario: str) -> yaml.MappingNode | None:
    entries = root.value if isinstance(root, yaml.SequenceNode) else []
    for entry in entries:
        name = _value(entry, "name") if isinstance(entry, yaml.MappingNode) else None
        if isinstance(name, yaml.ScalarNode) and name.value == scenario:
            found: yaml.MappingNode = entry
            return found
    return None


def _is_shared(root: yaml.Node | None, listed: yaml.Node) -> bool:
    """Return whether several entries have the very same list, by an anchor and an alias."""
    entries = root.value if isinstance(root, yaml.SequenceNode) else []
    return (
        sum(isinstance(one, yaml.MappingNode) and _value(one, "evaluators") is listed for one in entries) > 1
    )


def _value(entry: yaml.MappingNode, key: str) -> yaml.Node | None:
    return next((value for name, value in entry.value if name.value == key), None)


def _expected(project: Project, chosen: Sequence[Suggestion]) -> list[Scenario]:
    """Return the scenarios that must be read afterwards."""
    scenarios = {scenario.name: scenario for scenario in project.scenarios}
    for one in chosen:
        if isinstance(one, ScenarioSuggestion):
            scenarios[one.scenario.name] = one.scenario
        elif one.evaluator not in scenarios[one.scenario].evaluators:
            old = scenarios[one.scenario]
            scenarios[old.name] = old.model_copy(update={"evaluators": (*old.evaluators, one.evaluator)})
    return list(scenarios.values())


def _refuse_taken(project: Project, new: Sequence[Scenario]) -> None:
    names = [scenario.name for scenario in (*project.scenarios, *new)]
    taken = {name for name in names if names.count(name) > 1}
    if taken:
        raise UsageError(
            f"there is a scenario {min(taken)} already: it has been applied before, or give it another name."
        )


def _by_hand(scenario: str, spec: EvaluatorSpec, why: str) -> str:
    return f"scenario {scenario} cannot be changed: {why}. Write by hand:  - {evaluator_text(spec)}"
