"""CrewAI without telemetry, and crews without side effects."""

import logging
from typing import Any

from agentmut._base import environ

_OFF = {"CREWAI_DISABLE_TELEMETRY": "true"}


def import_quietly() -> None:
    """Import CrewAI without telemetry for the rest of the process; the environment does not change.

    Its one reporter is made at the import, along with handlers of signals, unless the environment says otherwise.
    """
    with environ(_OFF):
        from crewai.telemetry import Telemetry

        Telemetry().ready = False
    # It guesses the tokens of models that it does not know, and would say so of every request.
    logging.getLogger("crewai.llms.base_llm").setLevel(logging.ERROR)


class _NoOutputFile:
    """A stand-in for the file with the last kickoff's outputs, which `crewai replay` reads."""

    def update(self, task_index: int, log: dict[str, Any]) -> None:
        """Keep nothing."""

    def reset(self) -> None:
        """Delete nothing."""

    def load(self) -> None:
        """Find nothing."""


def keep_to_itself(crew: Any) -> None:
    """Prevent a trial from leaving files, from printing, and from streaming its answer."""
    crew.output_log_file = None
    for task in crew.tasks:
        task.output_file = None
    crew.memory = crew.stream = crew.tracing = crew.cache = crew.verbose = False
    crew.create_crew_memory()  # the validators of a crew, which take the settings over
    crew.set_private_attrs()
    if hasattr(crew, "_task_output_handler"):  # where CrewAI has it no more, there is nothing to spare
        crew._task_output_handler = _NoOutputFile()
