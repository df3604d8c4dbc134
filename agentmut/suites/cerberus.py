"""Cerberus: the contracts of its studies as evaluators, and its program as the agent where the project has none.

The format is that of github.com/orban/cerberus, `src/config.ts`. What has no counterpart here is refused.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, JsonValue

from agentmut._base import Frozen, KeyPath, ProjectError, UsageError, YamlSource, joined, read_yaml, validated
from agentmut.adapters import CommandAdapter
from agentmut.judging import build
from agentmut.nouns import AgentConfig, AgentTrace, EvaluatorSpec, Scenario
from agentmut.recording import Trial
from agentmut.seams import Adapter, AgentSpec, SetsRule, SuiteRule, SuiteSpec
from agentmut.suites.suite_argument import read_settings

WHERE = "suite.cerberus"
PLACEHOLDER = "{{scenario}}"
CORRECTIONS = {"bh": "benjamini-hochberg", "bonferroni": "bonferroni"}
Checks = dict[str, tuple[dict[str, JsonValue], ...]]


class CerberusSettings(Frozen):
    """The file to read, and replacements for contracts that cannot be taken over."""

    file: str
    checks: Checks = Field(default_factory=dict)
    """Evaluators of agentmut by the name of the contract that they take the place of."""
    together: bool = False
    """Whether contracts of a study that ask for the same threshold are one scenario: fewer runs, all must hold."""


class _Adapter(Frozen):
    command: str = Field(min_length=1)
    timeout: int = Field(default=30_000, gt=0)


class _Contract(Frozen):
    name: str = Field(min_length=1)
    type: Literal["code", "judge"]
    assert_: str = Field(default="", alias="assert")
    threshold: float = Field(default=0.90, ge=0.11, le=1)
    confidence: float = Field(default=0.95, ge=0.5, le=0.999)
    trials: int = Field(default=50, ge=1)
    rubric: str = ""
    judge_panel: int = 1
    source: str | None = None
    gold_set: str | None = None
    alpha_split: JsonValue = None


class _Study(Frozen):
    name: str = Field(min_length=1)
    scenario: str = Field(min_length=1)
    contracts: tuple[_Contract, ...] = Field(min_length=1)
    max_error_rate: float | None = None


class _File(Frozen):
    adapter: _Adapter
    judges: JsonValue = None
    studies: tuple[_Study, ...] = Field(min_length=1)
    correction: Literal["bh", "bonferroni", "none"] = "bh"


class _Scenario(Frozen):
    input: str = Field(min_length=1)
    metadata: dict[str, JsonValue] | None = None


class Cerberus(SetsRule):
    """The importer of Cerberus's config files."""

    name: ClassVar[str] = "cerberus"

    def __init__(self, settings: CerberusSettings, root: Path) -> None:
        self._settings = settings
        path = root / settings.file
        self._source = read_yaml(path, settings.file)
        self._file = validated(self._source, _File)
        self._inputs = [self._input(path.parent, place) for place in range(len(self._file.studies))]
        problems = [*_problems(self._file, self._source, settings), *_unequal(self._inputs, self._source)]
        if problems:
            raise ProjectError(joined(problems))

    @classmethod
    def create(cls, spec: SuiteSpec) -> "Cerberus":
        """Read the file; the argument is its path, or a mapping as `CerberusSettings`.

        Raises `ProjectError`, with the line of each problem.
        """
        return cls(read_settings(CerberusSettings, spec.argument, WHERE, short="file"), Path(spec.root))

    @property
    def rule(self) -> SuiteRule:
        """Return its trials, confidence, correction and time limit, which are the same for all contracts."""
        contract = self._file.studies[0].contracts[0]
        return SuiteRule(
            trials=contract.trials,
            alpha=round(1 - contract.confidence, 12),
            correction=CORRECTIONS.get(self._file.correction),
            timeout=self._file.adapter.timeout / 1000,
        )

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return one scenario for each contract of each study, with the contract's threshold."""
        found = [
            scenario
            for study, given in zip(self._file.studies, self._inputs, strict=True)
            for scenario in self._scenarios_of(study, given)
        ]
        return tuple(found)

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return Cerberus's own program, unless the project names an adapter."""
        if agent.adapter != self.name:
            return None
        words = [
            word.replace(PLACEHOLDER, "{input_file}") for word in shlex.split(self._file.adapter.command)
        ]
        spec = agent.model_copy(update={"adapter": "command", "command": tuple(words)})
        made = CommandAdapter.create(spec, config)
        metadata = {given.input: given.metadata for given in self._inputs if given.metadata is not None}
        return CerberusProgram(
            **{one.name: getattr(made, one.name) for one in fields(made)}, metadata=metadata
        )

    def _scenarios_of(self, study: _Study, scenario: _Scenario) -> Iterator[Scenario]:
        groups: dict[Any, list[_Contract]] = {}
        for contract in study.contracts:
            groups.setdefault(contract.threshold if self._settings.together else contract.name, []).append(
                contract
            )
        for contracts in groups.values():
            names = [contract.name for contract in contracts]
            yield Scenario(
                name=f"{study.name}/{'+'.join(names)}",
                turns=(scenario.input,),
                evaluators=tuple(
                    one for contract in contracts for one in self._evaluators(contract, scenario)
                ),
                threshold=contracts[0].threshold,
            )

    def _evaluators(self, contract: _Contract, scenario: _Scenario) -> Iterator[EvaluatorSpec]:
        if contract.name in self._settings.checks:
            yield from _own(self._settings.checks[contract.name])
            return
        metadata = {} if scenario.metadata is None else {"metadata": scenario.metadata}
        yield EvaluatorSpec(name="javascript", argument={"assert": contract.assert_, **metadata})

    def _input(self, folder: Path, place: int) -> _Scenario:
        study = self._file.studies[place]
        path = folder / study.scenario
        if not path.is_file():
            said = f"there is no file {study.scenario} beside it; correct the path"
            raise ProjectError(self._source.problem(("studies", place, "scenario"), said))
        return validated(read_yaml(path, study.scenario), _Scenario)


@dataclass(frozen=True)
class CerberusProgram(CommandAdapter):
    """Cerberus's program, which takes the path of a JSON file with `input` and `metadata`."""

    metadata: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    """The metadata of each input."""

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the program on the scenario of the turn."""
        asked: dict[str, JsonValue] = {"input": turns[0]}
        if (metadata := self.metadata.get(str(turns[0]))) is not None:
            asked["metadata"] = dict(metadata)
        return await super().run((asked,), trial)


def _problems(file: _File, source: YamlSource, settings: CerberusSettings) -> Iterator[str]:
    try:
        shlex.split(file.adapter.command)
    except ValueError as error:
        yield source.problem(("adapter", "command"), f"{str(error).lower()}; correct the quotes")
    if PLACEHOLDER not in file.adapter.command:
        yield source.problem(
            ("adapter", "command"), f"has no {PLACEHOLDER}: the program is not told what to do"
        )
    if file.correction == "none":
        yield source.problem(
            ("correction",), "agentmut always corrects for several contracts; write bh or bonferroni"
        )
    names = [study.name for study in file.studies]
    if len(set(names)) < len(names):
        yield source.problem(("studies",), "two studies have the same name; give each its own")
    every = [contract.name for study in file.studies for contract in study.contracts]
    for name in settings.checks.keys() - set(every):
        yield f"{WHERE}.checks: there is no contract {name!r} in {source.label}; it has {', '.join(every)}"
    first = file.studies[0].contracts[0]
    for place, study in enumerate(file.studies):
        at: KeyPath = ("studies", place)
        if study.max_error_rate is not None:
            yield source.problem((*at, "max_error_rate"), "errors are no evidence in agentmut; leave it out")
        for number, contract in enumerate(study.contracts):
            if contract.name in [earlier.name for earlier in study.contracts[:number]]:
                said = "two contracts of the study have the same name; give each its own"
                yield source.problem((*at, "contracts", number, "name"), said)
            for key, said in _of_contract(contract, first, settings):
                yield source.problem((*at, "contracts", number, key), said)


def _unequal(inputs: Sequence[_Scenario], source: YamlSource) -> Iterator[str]:
    """Refuse scenarios that differ in metadata only: an agent gets the input, so it cannot tell them apart."""
    first: dict[str, _Scenario] = {}
    for place, given in enumerate(inputs):
        if first.setdefault(given.input, given) != given:
            said = "an earlier study has the same input with other metadata; give each its own input"
            yield source.problem(("studies", place, "scenario"), said)


def _of_contract(
    contract: _Contract, first: _Contract, settings: CerberusSettings
) -> Iterator[tuple[str, str]]:
    """Return what has no counterpart in a contract, by its key."""
    if contract.threshold == 1:
        yield "threshold", "a pass rate of 1 cannot be tested for; write what can be tolerated, such as 0.99"
    for key in ("confidence", "trials"):
        if getattr(contract, key) != (other := getattr(first, key)):
            yield key, f"agentmut has one for all contracts, and the first has {other:g}; write the same"
    if contract.name in settings.checks:
        if not any(settings.checks[contract.name]):
            yield "name", f"{WHERE}.checks.{contract.name}: names no evaluator; give one, or leave it out"
        try:
            list(map(build, _own(settings.checks[contract.name])))
        except UsageError as error:
            yield "name", f"{WHERE}.checks.{contract.name}: {error}"
    elif contract.type == "judge":
        remedy = f"{WHERE}.checks: {{{contract.name}: [...]}}"
        yield "type", f"a panel of judges has no counterpart; give an evaluator of agentmut under {remedy}"
    elif not contract.assert_:
        yield "assert", "is missing: a code contract needs a condition"
    else:
        try:
            build(EvaluatorSpec(name="javascript", argument=contract.assert_))
        except UsageError as error:
            yield "assert", str(error)


def _own(checks: tuple[dict[str, JsonValue], ...]) -> Iterator[EvaluatorSpec]:
    """Return evaluators as a scenario file has them: mappings of one name."""
    for check in checks:
        for name, argument in check.items():
            yield EvaluatorSpec(name=name, argument=argument)
