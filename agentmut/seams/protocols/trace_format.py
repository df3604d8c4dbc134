"""The protocol of a reader for recorded runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

from agentmut.nouns import BrokenRecord, ForeignTrial


class TraceFile(NamedTuple):
    """A file with recorded runs."""

    path: Path
    shown: str
    """The file as messages show it."""


class TraceFormat(Protocol):
    """Reads the runs that another tool recorded. Built without arguments; imports its tool only to read."""

    name: ClassVar[str]
    """The value of `format`."""

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with `head`, at most 64 KiB of it, is of this format."""

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the runs of the files, and each record that cannot be read; raise nothing for what a file holds.

        The files are given together since tools cut their files by size, so that one run may be in two of them.
        """
