"""The importer of inspect_ai tasks."""

from pathlib import Path
from typing import ClassVar

from agentmut._base import AgentmutError, UsageError, error_location, one_line
from agentmut.adapters import CallableAdapter
from agentmut.nouns import AgentConfig, EvaluatorSpec, Scenario
from agentmut.seams import Adapter, AgentSpec, SuiteSpec
from agentmut.suites.called_agent import check_route
from agentmut.suites.inspect_ai.inspect_settings import WHERE, InspectSettings
from agentmut.suites.suite_argument import read_settings, require


class InspectSuite:
    """A case is a sample, by its id. Each scorer of the task is a check."""

    name: ClassVar[str] = "inspect"

    def __init__(self, settings: InspectSettings, root: Path, config: AgentConfig) -> None:
        self._settings = settings
        self._root = root
        self._config = config

    @classmethod
    def create(cls, spec: SuiteSpec) -> "InspectSuite":
        """Check the argument: the task, or a mapping as `InspectSettings`. Raises `UsageError`."""
        require("inspect_ai", "inspect", WHERE)
        settings = read_settings(InspectSettings, spec.argument, WHERE, short="task")
        return cls(settings, Path(spec.root), spec.config)

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the samples, in the dataset's order, of the task on the project's config."""
        from agentmut.suites.inspect_ai.adapter import scorer_names
        from agentmut.suites.inspect_ai.loading import TaskSource

        source = TaskSource(self._settings, self._root)
        try:
            task = source.make(self._config)
        except AgentmutError:
            raise
        except Exception as error:  # the task's own code may raise anything
            raise UsageError(
                f"{WHERE}: making the task {self._settings.task} raised {one_line(error)} ({error_location(error)})"
            ) from error
        names = scorer_names(task, self._settings.ignore)
        checks = tuple(EvaluatorSpec(name="suite", argument=name) for name in names)
        return tuple(Scenario(name=name, turns=(name,), evaluators=checks) for name in source.samples(task))

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return the adapter that runs one sample."""
        from agentmut.suites.inspect_ai.adapter import InspectAdapter
        from agentmut.suites.inspect_ai.loading import TaskSource

        source = TaskSource(self._settings, self._root)
        check_route(agent, f"the task {self._settings.task}", source.takes_config)
        called = CallableAdapter(source.factory or source.function, config, takes_config=source.takes_config)
        return InspectAdapter(called, config, source.takes_config, source)
