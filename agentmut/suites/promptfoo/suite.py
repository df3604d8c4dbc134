"""The importer of promptfoo configs: it asks promptfoo for the tests, and gives an adapter that runs one."""

from pathlib import Path
from typing import ClassVar

from yaml import YAMLError

from agentmut._base import ProjectError, UsageError
from agentmut.nouns import AgentConfig, EvaluatorSpec, Scenario
from agentmut.project import read_foreign
from agentmut.seams import Adapter, AgentSpec, RunsOutside, SuiteSpec
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings, command_of, read_settings


class PromptfooSuite:
    """A case is a test with a prompt. Its checks are the test's assertions."""

    name: ClassVar[str] = "promptfoo"

    def __init__(self, settings: PromptfooSettings, command: tuple[str, ...], root: str) -> None:
        from agentmut.suites.promptfoo.bench import Bench
        from agentmut.suites.promptfoo.cli import Place

        self._bench = Bench(settings, Place(command, root))
        self._file = Path(root, settings.path)

    @classmethod
    def create(cls, spec: SuiteSpec) -> "PromptfooSuite":
        """Check the argument: the config's path, or a mapping; see `PromptfooSettings`."""
        settings = read_settings(spec.argument, spec.root)
        return cls(settings, command_of(settings, spec.root), spec.root)

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the tests, in promptfoo's order. Raise `UsageError`."""
        return tuple(
            Scenario(
                name=case.name,
                turns=(case.name,),
                evaluators=tuple(EvaluatorSpec(name="suite", argument=check) for check in case.check_names),
            )
            for case in self._bench.suite.cases.values()
        )

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return the adapter that runs one test."""
        from agentmut.suites.answering_agent import own_adapter
        from agentmut.suites.promptfoo.adapter import OutsidePromptfoo, PromptfooAdapter
        from agentmut.suites.promptfoo.provider_agents import agent_of
        from agentmut.suites.promptfoo.providers import check_reached, measured

        wanted = self._bench.settings.provider
        if agent.adapter != self.name:
            if wanted is not None:
                raise UsageError(
                    "suite.promptfoo.provider: the agent of agent.adapter answers in the place of all providers; "
                    "leave one of the two out"
                )
            own = own_adapter(agent, config, self.name)
            assert own is not None
            kind = OutsidePromptfoo if isinstance(own, RunsOutside) else PromptfooAdapter
            return kind(agent, own.get_config(), own, self._bench)
        # refuses unused keys, before promptfoo is started
        own_adapter(_without_port(agent), config, self.name)
        chosen = measured(self._bench.suite.providers, wanted)
        if not chosen.is_endpoint:
            own_adapter(agent, config, self.name)
        provider = agent_of(chosen, agent, self._file.parent)
        if provider is None:
            check_reached(chosen)
            return OutsidePromptfoo(agent, self._with_prompt(config), None, self._bench)
        own = own_adapter(provider, config, self.name)
        assert own is not None
        return OutsidePromptfoo(agent, own.get_config(), own, self._bench, provided=True)

    def _with_prompt(self, config: AgentConfig) -> AgentConfig:
        """Return the config with what promptfoo's config says of the agent, where the project names no prompt.

        A config with several prompts, or in JavaScript, says nothing of a single agent. Raises `UsageError` for YAML
        that cannot be read.
        """
        if config.prompt or self._file.suffix not in (".yaml", ".yml", ".json"):
            return config
        try:
            found = read_foreign(self._file, "", ())
        except ProjectError as error:
            if isinstance(error.__cause__, YAMLError):  # promptfoo reads some YAML that other readers refuse
                raise UsageError(f"{error} {_BY_OTHER_WORDS}") from error
            return config
        if found is None:
            return config
        model = config.model if config.model.name else found.config.model
        return found.config.model_copy(
            update={
                "model": model,
                "tools": config.tools or found.config.tools,
                "context": config.context,
                "orchestration": config.orchestration,
            }
        )


_BY_OTHER_WORDS = (
    "promptfoo may read it, but agentmut takes prompt, tools and model from this file: put the value there into "
    "quotes, or write them under `agent.config`."
)


def _without_port(agent: AgentSpec) -> AgentSpec:
    """Return the agent without the port to which a service behind HTTP sends its model requests."""
    return agent.model_copy(update={"proxy_port": None})
