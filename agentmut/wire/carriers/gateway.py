"""Where the model requests of programs outside of this process pass."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from agentmut.trial import Trial


class Gateway(Protocol):
    """Tells the requests of trials apart by where they are sent to."""

    def endpoints(self, trial_id: str) -> Mapping[str, str]:
        """The environment variables that lead a program's requests here, as those of one trial."""
        ...

    def admitted(self, trial: Trial) -> AbstractContextManager[None]:
        """Take requests of the trial while the block lasts; afterwards they are refused."""
        ...
