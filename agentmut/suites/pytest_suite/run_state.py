"""The state of the run that a held session is carrying out, for its fixtures."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from agentmut.nouns import AgentConfig, AgentTrace
from agentmut.recording import Trial
from agentmut.seams import Adapter


@dataclass
class RunState:
    """The config and trial of one run, and what the agent did when the test ran it through `agentmut_agent`."""

    trial: Trial
    config: AgentConfig
    agent: Adapter | None = None
    """The project's own adapter, of `config`; None where the project names none."""
    reads: set[str] = field(default_factory=set)
    """Parts of the config that the test has read, as dotted paths."""
    traces: list[AgentTrace] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    noted: list[Any] = field(default_factory=list)
    """Notes that plugins of other tools took on the run, for their importer."""


RUNNING = pytest.StashKey[RunState]()
"""The key of the current run in the stash of a session's config."""
