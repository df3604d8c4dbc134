"""The importer of deepeval tests: pytest tests, with deepeval kept quiet and its judges kept apart."""

import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import ClassVar

from agentmut._base import UsageError
from agentmut.nouns import AgentConfig, EvaluatorSpec, Scenario
from agentmut.seams import Adapter, AgentSpec, SuiteSpec
from agentmut.suites.pytest_suite.pytest_settings import PytestSettings, read_settings
from agentmut.suites.pytest_suite.suite import PytestSuite

CHECK = "deepeval"
PLUGIN = ("-p", "agentmut.suites.deepeval_suite.plugin")


@contextmanager
def _in_its_own_name() -> Iterator[None]:
    """Name the project's section in errors of the pytest importer."""
    try:
        yield
    except UsageError as error:
        raise UsageError(str(error).replace("suite.pytest", "suite.deepeval")) from None


@dataclass
class DeepevalSuite:
    """A case is a pytest test item. It passes if the test and every metric it asserts pass."""

    name: ClassVar[str] = "deepeval"
    tests: PytestSuite
    metrics: tuple[str, ...] | None = None
    """Names of metrics that are a check each, besides the test; None for all that a run turns out to measure."""

    @classmethod
    def create(cls, spec: SuiteSpec) -> "DeepevalSuite":
        """Check the argument: what `suite: {pytest: ...}` takes, and `metrics`, a list of their names."""
        if importlib.util.find_spec("deepeval") is None:
            raise UsageError(
                "suite.deepeval: deepeval is not installed here. Run: pip install 'agentmut[deepeval]'"
            )
        argument = spec.argument
        metrics = argument.get("metrics") if isinstance(argument, Mapping) else None
        if not isinstance(metrics, list | None) or not all(
            isinstance(name, str) and name for name in metrics or ()
        ):
            raise UsageError(f"suite.deepeval.metrics: expects a list of names of metrics, got {metrics!r}")
        if isinstance(argument, Mapping):
            argument = {key: value for key, value in argument.items() if key != "metrics"}
        with _in_its_own_name():
            settings = read_settings(argument, spec.root)
        names = None if metrics is None else tuple(map(str, metrics))
        return cls(PytestSuite(with_plugin(settings)), names)

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the tests, in pytest's order. Raise `UsageError`."""
        checks: tuple[EvaluatorSpec, ...] = (EvaluatorSpec(name="suite_checks", argument=CHECK),)
        if self.metrics is not None:
            checks = tuple(EvaluatorSpec(name="suite", argument=name) for name in (CHECK, *self.metrics))
        with _in_its_own_name():
            tests = self.tests.scenarios()
        return tuple(test.model_copy(update={"evaluators": checks}) for test in tests)

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return the adapter that runs one test."""
        from agentmut.suites.deepeval_suite.adapter import DeepevalAdapter
        from agentmut.suites.pytest_suite.adapter import PytestAdapter

        own = agent.model_copy(update={"adapter": PytestSuite.name}) if agent.adapter == self.name else agent
        adapter = self.tests.adapter(own, config)
        assert isinstance(adapter, PytestAdapter)
        parts = {field.name: getattr(adapter, field.name) for field in fields(adapter)}
        return DeepevalAdapter(**parts, metrics=self.metrics)


def with_plugin(settings: PytestSettings) -> PytestSettings:
    """Return the settings of a session whose deepeval metrics are recorded."""
    return settings.model_copy(update={"args": (*PLUGIN, *settings.args)})
