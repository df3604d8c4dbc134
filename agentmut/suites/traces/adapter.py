"""Hands recorded runs out as the trials of their scenario: nothing is run, and nothing new can be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import CaseError, digest_of
from agentmut.nouns import AgentConfig, AgentTrace, Check, ForeignMark, ForeignTrial, Mutant, ToolSpec
from agentmut.recording import Trial
from agentmut.seams import AgentSpec, AsksNoModel, HoldsInputs, HoldsTrials
from agentmut.store import SERIES
from agentmut.suites.traces.traces_settings import TracesSettings


class RecordedRun(NamedTuple):
    """A recorded run, and what its recorded scores say."""

    trial: ForeignTrial
    checks: tuple[Check, ...]


class RecordedFailureError(Exception):
    """The error with which a recorded run ended."""


@dataclass(frozen=True)
class TracesAdapter(AsksNoModel, HoldsInputs, HoldsTrials):
    """The k-th trial of a scenario is its k-th recorded run."""

    config: AgentConfig
    runs: Mapping[str, tuple[RecordedRun, ...]]
    """By scenario."""
    digest: str
    """SHA-256 of the files."""
    settings: TracesSettings
    remarks: tuple[str, ...] = ()

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "TracesAdapter":
        """Refuse: only the importer makes this adapter."""
        raise TypeError("made by the importer traces, of `suite: {traces: ...}`")

    @cached_property
    def trials(self) -> Mapping[str, int]:
        """Return the number of recorded runs of each scenario."""
        return {name: len(runs) for name, runs in self.runs.items()}

    @cached_property
    def tools_called(self) -> tuple[str, ...]:
        """Return the tools that the recorded runs called, in the order of the first call."""
        called = (run.trial.trace.tools_called for runs in self.runs.values() for run in runs)
        return tuple(dict.fromkeys(name for names in called for name in names))

    @property
    def why_no_other_input(self) -> str:
        """Return why nothing else can be asked."""
        return "recorded runs hold what the agent was asked"

    def get_config(self) -> AgentConfig:
        """Return what the project and the records tell of the agent."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the config."""
        return self.config.tools

    def with_config(self, config: AgentConfig) -> "TracesAdapter":
        """Return the same recorded runs; no config changes them."""
        return replace(self, config=config)

    def doubled_tools(self) -> frozenset[str]:
        """Return none: no tool is called."""
        return frozenset()

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why no mutant can be run."""
        return "the runs are recorded, so that no mutant can be run"

    def versions(self) -> Mapping[str, str]:
        """Return the digests of the files and of the suite's settings."""
        return {"traces": self.digest, "suite": digest_of(self.settings.model_dump(mode="json"))}

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Return the recorded run. Raise `CaseError` where there is none, or it has not the score that decides."""
        runs, number = self.runs.get(trial.scenario, ()), trial.repeat % SERIES
        if number >= len(runs):
            raise CaseError(
                f"there are {len(runs)} recorded runs of {trial.scenario}; add files to have more"
            )
        found, checks = runs[number]
        mark = ForeignMark(source=str(found.place), digest=self.digest, turns=found.turns)
        recorder, trace = trial.recorder, found.trace
        recorder.foreign = mark
        recorder.steps.extend(trace.steps)
        if trace.error and not checks:
            recorder.count(late=trace.seconds)  # the trace of a run that raises has the recorder's time
            raise RecordedFailureError(trace.error)
        if not checks and not trace.steps and not trace.outputs:
            raise CaseError(f"{found.place}: the recorded run holds nothing")
        return trace.model_copy(update={"checks": checks, "foreign": mark})
