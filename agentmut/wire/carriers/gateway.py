"""Where the model requests of programs outside of this process pass."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from agentmut.recording import Trial


class Gateway(Protocol):
    """Tells the requests of trials apart by where they are sent to."""

    def attempt(self, trial_id: str) -> "Attempt":
        """Return addresses for one attempt at a trial, which no other attempt has."""


class Attempt(Protocol):
    """One attempt at a trial, as its requests name it."""

    @property
    def endpoints(self) -> Mapping[str, str]:
        """Return the environment variables that lead a program's requests here, as those of this attempt."""

    def admitted(self, trial: Trial) -> AbstractContextManager[None]:
        """Take requests of the trial while the block lasts; afterwards they are refused."""
