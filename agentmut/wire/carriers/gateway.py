"""The gateway for model requests of programs outside this process."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from agentmut.recording import Trial


class Gateway(Protocol):
    """Tells the requests of trials apart by their addresses."""

    def attempt(self, trial_id: str) -> "Attempt":
        """Return the addresses for one attempt at a trial; no other attempt has the same ones."""


class Attempt(Protocol):
    """One attempt at a trial, as its requests name it."""

    @property
    def endpoints(self) -> Mapping[str, str]:
        """Return the environment variables that lead a program's requests to this attempt's addresses."""

    def admitted(self, trial: Trial) -> AbstractContextManager[None]:
        """Accept requests of the trial during the block, and refuse them afterwards."""
