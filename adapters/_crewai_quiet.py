"""CrewAI without its telemetry."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_OFF = {"CREWAI_DISABLE_TELEMETRY": "true"}


def import_quietly() -> None:
    """Import CrewAI and have it report nothing for the rest of the process; the environment stays as it is.

    Its one reporter is made at the import, along with handlers of signals, unless the environment says otherwise.
    """
    with _set(_OFF):
        from crewai.telemetry import Telemetry

        Telemetry().ready = False


@contextmanager
def _set(wanted: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
