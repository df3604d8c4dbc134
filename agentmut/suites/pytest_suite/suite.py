"""The importer of pytest suites: it collects the tests, and gives an adapter that runs one."""

import importlib.util
from typing import ClassVar

from agentmut._base import UsageError
from agentmut.nouns import AgentConfig, EvaluatorSpec, Scenario
from agentmut.seams import Adapter, AgentSpec, SuiteSpec
from agentmut.suites.pytest_suite.pytest_settings import Case, PytestSettings, read_settings


class PytestSuite:
    """A case is a test item, by its node id. Its one check is whether the test passes."""

    name: ClassVar[str] = "pytest"

    def __init__(self, settings: PytestSettings) -> None:
        self._settings = settings

    @classmethod
    def create(cls, spec: SuiteSpec) -> "PytestSuite":
        """Check the argument: a path, a list of paths, or a mapping; see `PytestSettings`."""
        if importlib.util.find_spec("pytest") is None:
            raise UsageError("suite.pytest: pytest is not installed here. Run: pip install pytest")
        return cls(read_settings(spec.argument, spec.root))

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the tests, in pytest's order, collected in a separate process. Raise `UsageError`."""
        from agentmut.suites.pytest_suite.collecting import collected

        if self._settings.cases is None:
            self._settings = self._settings.model_copy(update={"cases": collected(self._settings)})
        return scenarios_of(self._settings.cases or ())

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return the adapter that runs one test. A process that knows the scenarios holds the session from here on."""
        from agentmut.suites.pytest_suite.adapter import PytestAdapter
        from agentmut.suites.pytest_suite.fixtures import agent_in_process
        from agentmut.suites.pytest_suite.held_session import HeldSession

        own = agent_in_process(agent, config)
        config = own.get_config() if own else config
        return PytestAdapter(agent, config, own, config, self._settings, HeldSession(self._settings))


def scenarios_of(cases: tuple[Case, ...]) -> tuple[Scenario, ...]:
    """Return tests as scenarios."""
    check = EvaluatorSpec(name="suite", argument=PytestSuite.name)
    return tuple(Scenario(name=case.id, turns=(case.id,), evaluators=(check,)) for case in cases)
