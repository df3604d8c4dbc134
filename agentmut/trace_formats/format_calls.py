"""Calls of a trace format, which may be foreign code: every failure becomes an error that names the format.

A call of a format of another package has a deadline, as a call of a relation has. Reading gives runs in batches, and
each batch is one call: a deadline of one run would take a thread for each run, one of all runs would depend on their
number.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agentmut._base import PluginError, UsageError, nearest
from agentmut.nouns import BrokenRecord, ForeignTrial
from agentmut.recording import AgentExitError, OverdueError, in_time
from agentmut.seams import Catalogue, Group, TraceFile, TraceFormat, from_plugin, run_plugin
from agentmut.trial import contained_calls

AUTO = "auto"
FORMAT_SECONDS = 60.0
"""Seconds that a call may take outside of a project, which says so by `execution.evaluator_timeout`."""
_BATCH_SECONDS = 0.25
_BATCH_RUNS = 1_000
_END = object()


class TraceFormats:
    """The trace formats by their names. A call of a format that is not agentmut's own may take `seconds`."""

    def __init__(self, seconds: float = FORMAT_SECONDS) -> None:
        self._catalogue = Catalogue.from_group(Group.TRACE_FORMATS)
        self._seconds = seconds
        self._made: dict[str, TraceFormat] = {}

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all formats."""
        return self._catalogue.names

    def recognised_by(self, head: bytes) -> list[str]:
        """Return the formats that recognise the first bytes of a file."""
        return [name for name in self.names if self._recognises(name, head)]

    def read(self, name: str, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield what a format reads. Raises `UsageError` for an unknown format, and `PluginError`."""
        reader, what = self._format(name), f"trace format {name!r}: read()"
        opened = from_plugin(what, Iterable, lambda: self._called(reader, what, lambda: reader.read(files)))
        reading = run_plugin(what, lambda: iter(opened))
        while batch := run_plugin(what, lambda: self._called(reader, what, lambda: _batch(reading))):
            for found in batch:
                if found is _END:
                    return
                if not isinstance(found, ForeignTrial | BrokenRecord):
                    kind = type(found).__name__
                    raise PluginError(f"{what} gave a {kind}; expected ForeignTrial or BrokenRecord.")
                yield found

    def _recognises(self, name: str, head: bytes) -> bool:
        reader, what = self._format(name), f"trace format {name!r}: recognises()"
        call = lambda: self._called(reader, what, lambda: reader.recognises(head))  # noqa: E731
        found: bool = from_plugin(what, bool, call)
        return found

    def _format(self, name: str) -> TraceFormat:
        if name not in self._made:
            if name not in self.names:
                raise UsageError(f"unknown trace format {name!r}. {nearest(name, (AUTO, *self.names))}")
            kind = self._catalogue.load(name)
            self._made[name] = run_plugin(f"trace format {name!r}: {kind.__name__}()", kind)
        return self._made[name]

    def _called(self, reader: TraceFormat, method: str, call: Callable[[], Any]) -> Any:
        if type(reader).__module__.startswith("agentmut."):
            return call()
        try:
            with contained_calls():
                return in_time(call, self._seconds)
        except AgentExitError as error:  # of SystemExit, say: what the format raised is told
            raise error.__cause__ or error from None
        except OverdueError as error:
            said = (
                f"{method} took more than {self._seconds:g} s; it was at {str(error) or 'an unknown place'}"
            )
            raise PluginError(
                f"{said}. Correct the trace format, or raise execution.evaluator_timeout"
            ) from None


def _batch(reading: Iterator[Any]) -> list[Any]:
    """Return what a format reads next, for a quarter of a second; the last thing is `_END`."""
    found: list[Any] = []
    until = time.monotonic() + _BATCH_SECONDS
    while len(found) < _BATCH_RUNS and time.monotonic() < until:
        found.append(next(reading, _END))
        if found[-1] is _END or found[-1] is None:
            break
    return found
