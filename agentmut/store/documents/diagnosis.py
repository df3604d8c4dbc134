"""The diagnosis of `agentmut doctor`, as it is printed and given as JSON."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from agentmut._base import Frozen

SCHEMA_VERSION = 1


class Arrival(StrEnum):
    """Whether a change of one part reaches the agent."""

    ALL = "yes"
    PARTLY = "partly"
    """In some of the requests that could have shown it."""
    NONE = "no"
    UNKNOWN = "not tried"


class Check(Frozen):
    """A check that needs no run of the agent."""

    ok: bool
    said: str


class Delivered(Frozen):
    """The fate of one part's change on one route."""

    arrival: Arrival
    shown: int = 0
    could: int = 0
    """Requests that show it, of those that could have."""
    first_missed: bool = False
    """Whether the first of these requests does not show it."""
    said: str = ""
    """Where it did not arrive, the probable cause and the remedy."""


class Part(Frozen):
    """A part of the agent, and how changes of it arrive."""

    name: str
    probe: str
    """The harmless change that was tried."""
    rebuild: Delivered
    wire: Delivered


class Sent(Frozen):
    """Model requests of one kind that the unchanged agent sent."""

    number: int
    dialect: str
    host: str
    model: str
    prompt_length: int
    """Characters of the system prompt."""
    tools: tuple[str, ...]
    streamed: bool


class Diagnosis(Frozen):
    """Whether mutants can reach an agent, and how."""

    schema_version: int = SCHEMA_VERSION
    kind: str = "doctor"
    project: str
    adapter: str
    scenario: str
    checks: tuple[Check, ...] = ()
    trials: int = 0
    """Runs of the agent so far."""
    ran: bool = False
    """Whether the agent as it is could be run."""
    said: str = ""
    """How that run ended."""
    requests: tuple[Sent, ...] = ()
    differences: tuple[str, ...] = ()
    """Between the config of the project and what the requests show."""
    moving: tuple[str, ...] = ()
    """What of the requests is another in other runs, each with the placeholder that stands for it in the kept file."""
    parts: tuple[Part, ...] = ()
    routes: Mapping[str, bool] = Field(default_factory=dict)
    """By route: whether the change of some part arrives."""
    route: str = "rebuild"
    """The one that `agentmut run` would take."""
    remembers: bool = False
    """Whether a run began with what an earlier one was told."""
    advice: tuple[str, ...] = ()

    @property
    def reachable(self) -> bool:
        """Return whether some change reaches the agent by some route."""
        return any(self.routes.values())
