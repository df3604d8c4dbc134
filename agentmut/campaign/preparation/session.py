"""From a project to a session: its agent imported, its suite and its evaluators built."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import UsageError, digest_of, make_importable, nearest
from agentmut.campaign.preparation.agents_own import with_agents_own
from agentmut.campaign.preparation.evaluator_age import (
    Ages,
)
from agentmut.campaign.preparation.identity import Environment, environment
from agentmut.campaign.preparation.imported import agents_adapter, imported_suite, with_suite
from agentmut.campaign.preparation.shaping_code import judging_code, shaping_code
from agentmut.campaign.preparation.tools_fit import check_tools_judged
from agentmut.campaign.trials import Suite
from agentmut.judging import bounded, bounded_calls, build_all, remembering
from agentmut.nouns import AgentConfig, OpinionCache, Origin, Scenario, Sources, ToolSpec
from agentmut.project import FOLDER, Project, redactor
from agentmut.recording import TextKeeping, Texts
from agentmut.seams import (
    Adapter,
    Catalogue,
    Evaluator,
    Group,
    HoldsInputs,
    HoldsTrials,
    RunsCases,
)
from agentmut.store import OpinionFile, PassingOpinions
from agentmut.trial import (
    Pricer,
    SuiteConfig,
    inside,
    provider_of,
    remedy_on_wire,
)


class Session(NamedTuple):
    """A project with its agent imported and its tests built."""

    project: Project
    adapter: Adapter
    suite: SuiteConfig
    scenarios: tuple[Scenario, ...]
    tests: Suite
    environment: Environment
    sources: Sources
    """Where the parts of the config stand, with those that only the built agent has."""
    ages: Ages = MappingProxyType({})
    """When the evaluators of each scenario were fixed; empty for a session without a store."""

    @property
    def origin(self) -> Origin:
        """Return the origin that mutants are made from."""
        return Origin(config=self.suite.full, sources=self.sources, file=self.project.path.name)


def _evaluators(
    project: Project, scenarios: Sequence[Scenario], catalogue: Catalogue
) -> dict[str, tuple[Evaluator, ...]]:
    """Return the evaluators of each scenario; those that run code of users have a deadline wherever they are asked."""
    opinions, execution = _opinions(project), project.execution
    calls = bounded_calls(execution.isolate_evaluators, execution.evaluator_timeout)
    return {
        scenario.name: tuple(
            bounded(remembering(judge, opinions), calls) for judge in _built(project, scenario, catalogue)
        )
        for scenario in scenarios
    }


def _built(project: Project, scenario: Scenario, catalogue: Catalogue) -> tuple[Evaluator, ...]:
    specs = scenario.evaluators
    return build_all(specs, catalogue, project.sources.evaluators_of(scenario.name, len(specs)))


def open_session(
    project: Project, scenarios: Sequence[str] = (), scenario_sample: int | None = None
) -> Session:
    """Import the agent and build the tests.

    `scenarios` restricts the suite by name, `scenario_sample` to so many of it at random: see `sampled_scenarios`.
    Raises `UsageError` for what cannot be imported or does not fit, `AdapterError` when the agent cannot be built.
    """
    make_importable(project.root)
    importer = imported_suite(project)
    project = with_suite(project, importer)
    chosen = _chosen(project, scenarios)
    if scenario_sample is not None:
        chosen = sampled_scenarios(chosen, scenario_sample)
    adapter = agents_adapter(project, importer)
    code = project.agent_version or shaping_code(project)
    tests = _tests(project, adapter, chosen)
    suite = SuiteConfig(
        adapter.get_config(),
        chosen,
        on_wire=remedy_on_wire(adapter),
        workers=project.execution.concurrency if isinstance(inside(adapter), RunsCases) else 0,
    )
    variables = declared_variables(project)
    return Session(
        project=project,
        adapter=adapter,
        suite=suite,
        scenarios=chosen,
        tests=tests,
        environment=environment(
            project.agent, adapter.versions(), code, project.execution.timeout, variables
        ),
        sources=with_agents_own(project, suite.full),
    )


def _tests(project: Project, adapter: Adapter, scenarios: Sequence[Scenario]) -> Suite:
    """Return the scenarios with their evaluators. Raise `UsageError` if these judge a tool that the agent lacks."""
    evaluators = _evaluators(project, scenarios, Catalogue.from_group(Group.EVALUATORS))
    check_tools_judged(adapter, evaluators)
    return Suite(
        {scenario.name: scenario for scenario in scenarios},
        evaluators,
        TextKeeping(Texts(project.store.texts), adapter.get_config(), scenarios),
        project.store.limits,
        pricer_of(project),
    )


def _opinions(project: Project) -> OpinionCache:
    """Return where judges' replies are kept: nowhere but in this process where no text may be."""
    if not project.store.keeps_texts:
        return PassingOpinions()
    return OpinionFile(project.root / FOLDER / "opinions.db", redactor(project).text)


def no_other_input(session: Session) -> str:
    """Return why the agent answers only the inputs of its suite, in a phrase; an empty text if it answers any input."""
    agent = inside(session.adapter)
    return agent.why_no_other_input if isinstance(agent, HoldsInputs) else ""


def held_trials(session: Session) -> HoldsTrials | None:
    """Return the agent if it only hands out finished trials; None if it can be run."""
    agent = inside(session.adapter)
    return agent if isinstance(agent, HoldsTrials) else None


def judged_config(session: Session) -> AgentConfig:
    """Return the agent's config; of recorded runs whose records describe no tools, with the tools that were called."""
    config, held = session.suite.full, held_trials(session)
    if held is None or config.tools:
        return config
    tools = tuple(ToolSpec(name=name, description="") for name in held.tools_called)
    return config.model_copy(update={"tools": tools})


def refuse_to_run(session: Session, command: str) -> None:
    """Raise `UsageError` if `command` needs new runs and the agent only hands out finished trials."""
    if held_trials(session):
        raise UsageError(
            f"{command} takes new runs of the agent, and suite.{session.project.agent.adapter} only has recorded ones. "
            "`agentmut test`, `coverage`, `trend` and `relations --stored` read them. To run the agent, name it under "
            "`agent` and its scenarios under `suite.scenarios`"
        )


def refuse_without_texts(session: Session, command: str) -> None:
    """Raise `UsageError` if `command` reads texts of runs and the project stores no texts."""
    if session.tests.texts.is_hidden:
        raise UsageError(
            f"{command} reads what agents, models and tools said, and store.texts: {session.project.store.texts} "
            "keeps no text. Set `store: {texts: full}` to use it, and run again: what is stored stays without texts"
        )


def declared_variables(project: Project) -> dict[str, str]:
    """Return the environment variables that the project file sets for its agent."""
    return {name: secret.get_secret_value() for name, secret in project.env.items()}


def suite_digest(session: Session) -> str:
    """Return a digest of the suite's inputs and evaluators, including the user's own code."""
    asked = [scenario.model_dump(mode="json") for scenario in session.scenarios]
    judging = judging_code(session.project)
    return digest_of([*asked, judging] if judging else asked)


def pricer_of(project: Project) -> Pricer:
    """Return what knows the prices of the project's models."""
    return Pricer(project.budget.prices, provider_of(project))


def _chosen(project: Project, names: Sequence[str]) -> tuple[Scenario, ...]:
    known = {scenario.name: scenario for scenario in project.scenarios}
    for name in names:
        if name not in known:
            raise UsageError(f"--scenario {name}: there is no such scenario. {nearest(name, known)}")
    return tuple(scenario for scenario in project.scenarios if not names or scenario.name in names)


def sampled_scenarios(scenarios: Sequence[Scenario], most: int) -> tuple[Scenario, ...]:
    """Return at most `most` of the scenarios, drawn at random by their names, in the order of the suite.

    The same in every run. A larger sample holds a smaller one, so that a later run with more money reuses its trials.
    """
    by_lot = sorted(scenarios, key=lambda scenario: digest_of(["scenario sample", scenario.name]))
    drawn = {scenario.name for scenario in by_lot[:most]}
    return tuple(scenario for scenario in scenarios if scenario.name in drawn)
