"""From a project to a campaign that is ready to run: adapter, suite, mutants, plan."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut.applied import first_repeats
from agentmut.calls.doubles import resolve_doubles, resolve_hooks
from agentmut.engine.attempt import Case
from agentmut.engine.executor import Executor, LocalExecutor, RetryingExecutor, RunSettings
from agentmut.engine.history import (
    by_yield,
    read_history,
)
from agentmut.engine.identity import Environment, code_digest, environment, unused_elsewhere
from agentmut.engine.isolation import ProcessExecutor
from agentmut.engine.limits import BaselineLimit, baseline_within_trials, price_missing
from agentmut.engine.on_wire import inside, remedy_on_wire, routed
from agentmut.engine.plan import Plan, Rule, new_run_id
from agentmut.engine.pricing import Pricer
from agentmut.engine.secrets import redactor
from agentmut.engine.suite import SuiteConfig
from agentmut.engine.trials import Suite
from agentmut.errors import AdapterError, UsageError, nearest
from agentmut.evaluators import build_all, remembering, tools_judged, unwrapped
from agentmut.execution import Ending
from agentmut.files.layout import FOLDER
from agentmut.files.scenarios import named
from agentmut.frozen import digest_of
from agentmut.imports import make_importable
from agentmut.mutant import Mutant
from agentmut.mutation.controls import destroyed_mutant, identity_mutant
from agentmut.mutation.generate import Generation
from agentmut.origin import Origin
from agentmut.plugins import Catalogue, Group
from agentmut.project import Project
from agentmut.protocols import (
    Adapter,
    AsksModel,
    Evaluator,
    HoldsInputs,
    Importer,
    NeedsDoubles,
    RunsAlone,
    RunsCases,
    RunsOutside,
    SetsRule,
    SuiteRule,
    SuiteSpec,
)
from agentmut.scenario import EvaluatorSpec, Scenario
from agentmut.stats.kill.baseline import automatic_size
from agentmut.store.opinions import OpinionFile
from agentmut.trace import Usage

HELD_REQUESTS = 20
"""Requests of one trial that may have to wait for the rate limit before a worker counts as stuck."""


class Session(NamedTuple):
    """A project with its agent imported and its tests built."""

    project: Project
    adapter: Adapter
    suite: SuiteConfig
    scenarios: tuple[Scenario, ...]
    tests: Suite
    environment: Environment

    @property
    def origin(self) -> Origin:
        """What its mutants are made from."""
        return Origin(config=self.suite.full, sources=self.project.sources, file=self.project.path.name)


def open_session(project: Project, scenarios: Sequence[str] = ()) -> Session:
    """Import the agent and build the tests; `scenarios` restricts the suite by name.

    Raises `UsageError` for what cannot be imported or does not fit, `AdapterError` when the agent cannot
    be built.
    """
    make_importable(project.root)
    importer = imported_suite(project)
    project = with_suite(project, importer)
    chosen = _chosen(project, scenarios)
    adapter = _adapter(project, importer)
    code = project.agent_version or _code(project)
    catalogue = Catalogue.of(Group.EVALUATORS)
    opinions = OpinionFile(project.root / FOLDER / "opinions.db", redactor(project).text)
    evaluators = {
        scenario.name: tuple(remembering(e, opinions) for e in build_all(scenario.evaluators, catalogue))
        for scenario in chosen
    }
    _check_tools_judged(adapter, evaluators)
    return Session(
        project=project,
        adapter=adapter,
        suite=SuiteConfig(
            adapter.get_config(),
            chosen,
            on_wire=remedy_on_wire(adapter),
            workers=project.execution.concurrency if isinstance(inside(adapter), RunsCases) else 0,
        ),
        scenarios=chosen,
        tests=Suite({scenario.name: scenario for scenario in chosen}, evaluators),
        environment=environment(
            project.agent, adapter.versions(), code, project.execution.timeout, declared_variables(project)
        ),
    )


def with_suite(project: Project, importer: Importer | None) -> Project:
    """The project with the scenarios of the suite that it measures, and what that says of verdicts."""
    if importer is not None and not project.scenarios:  # a worker process is told them
        project = project.model_copy(update={"scenarios": importer.scenarios()})
    return ruled(project, importer.rule) if isinstance(importer, SetsRule) else project


def ruled(project: Project, rule: SuiteRule) -> Project:
    """The project with what its suite says of verdicts, where the project file says nothing."""
    places = {
        "trials": ("test", "trials"),
        "correction": ("test", "correction"),
        "alpha": ("statistics", "alpha"),
        "timeout": ("execution", "timeout"),
    }
    for name, (section, key) in places.items():
        value, settings = getattr(rule, name), getattr(project, section)
        if value is None or key in settings.model_fields_set:
            continue
        changed = type(settings).model_validate(settings.model_dump(exclude_unset=True) | {key: value})
        project = project.model_copy(update={section: changed})
    return project


def no_other_input(session: Session) -> str:
    """Why the session's agent can be asked nothing but what its suite asks, in a phrase; empty where it can."""
    agent = inside(session.adapter)
    return agent.why_no_other_input if isinstance(agent, HoldsInputs) else ""


def declared_variables(project: Project) -> dict[str, str]:
    """The environment variables that the project file sets for its agent."""
    return {name: secret.get_secret_value() for name, secret in project.env.items()}


def plan_fields(session: Session, now: float, seed: int | None) -> dict[str, Any]:
    """The fields of a `RunPlan` that every new run of a session takes from it; `seed` None takes the project's."""
    project = session.project
    _check_judge_prices(session)
    return {
        "run_id": new_run_id(now),
        "started": now,
        "seed": project.statistics.seed if seed is None else seed,
        "budget": project.budget,
        "suite_digest": suite_digest(session),
        "config_digest": session.suite.full.digest,
        "environment": session.environment,
        "concurrency": project.execution.concurrency,
    }


def make_plan(session: Session, generation: Generation, seed: int | None, now: float) -> Plan:
    """The plan of a new run. Raises `UsageError` without mutants, or when the budget is too small."""
    if not generation.mutants:
        raise UsageError(f"no mutants to run: {_why_none(generation)}")
    project, settings = session.project, session.project.statistics
    _check_prices(project, generation.mutants)
    return Plan(
        **plan_fields(session, now, seed),
        scenarios=tuple(scenario.name for scenario in session.scenarios),
        baseline=_baseline(project, len(session.scenarios), len(generation.mutants)),
        first=first_repeats(project),
        baseline_limit=_baseline_limit(project),
        mutants=generation.mutants,
        order=by_yield(generation.mutants, read_history(project.runs)),
        selective=generation.selective,
        identity=tuple(identity_mutant(session.suite.full, kind) for kind in project.mutation.identity),
        destroyed=destroyed_mutant(session.suite.full),
        ignored=dict(generation.ignored),
        notes=(*generation.notes, *_renewed(project), *session.tests.notes()),
        rule=Rule(
            alpha=settings.alpha,
            beta=settings.beta,
            delta=settings.delta,
            n_max=settings.n_max,
            suite_share=settings.suite_share,
        ),
        window=project.execution.window,
    )


def _renewed(project: Project) -> Iterator[str]:
    """What a reader has to know of baselines that were begun anew."""
    if first := first_repeats(project):
        yield (
            f"the baseline of {', '.join(first)} is of runs made since evaluators were chosen there by looking at "
            "runs: on those, the original would look better than it is"
        )


def make_executor(session: Session, seed: int | None = None) -> Executor:
    """What runs the trials: tasks of this process, or worker processes. `seed` is the plan's.

    Raises `UsageError` when a double cannot stand in for its tool.
    """
    _check_doubles(session.adapter, session.scenarios)
    execution = session.project.execution
    agent = inside(session.adapter)
    outside = isinstance(agent, RunsOutside)  # then each agent has a process of its own
    alone = isinstance(agent, RunsAlone) and agent.runs_alone
    if (execution.isolate == "process" or alone) and not outside:
        make = partial(_worker_executor, session.project, _names(session.scenarios), seed)
        no_evidence = isinstance(agent, RunsCases) and agent.raised == "error"
        exit_ends = Ending.CASE_ERROR if no_evidence else Ending.RAISED
        inner: Executor = ProcessExecutor(make, execution.concurrency, _deadline(session), exit_ends)
    else:
        inner = local_executor(session, seed)
    return RetryingExecutor(inner, execution.retries)


def local_executor(session: Session, seed: int | None = None, sharing: int = 1) -> LocalExecutor:
    """Runs the session's trials in this process, one of `sharing` that share the rate limit."""
    project = session.project
    limit = project.execution.requests_per_minute
    settings = RunSettings(
        timeout=project.execution.timeout,
        seed=project.statistics.seed if seed is None else seed,
        requests_per_minute=limit / sharing if limit else None,
        record=project.execution.record,
        proxy_port=project.agent.proxy_port,
        redact=redactor(project).text,
    )
    cases = {scenario.name: _case(scenario, project.root) for scenario in session.scenarios}
    return LocalExecutor(session.adapter, session.suite, cases, _pricer(project), settings)


def suite_digest(session: Session) -> str:
    """Identifies what is asked and how it is judged."""
    return digest_of([scenario.model_dump(mode="json") for scenario in session.scenarios])


def _worker_executor(project: Project, scenarios: tuple[str, ...], seed: int | None) -> Executor:
    session = open_session(project, scenarios)
    return local_executor(session, seed, sharing=project.execution.concurrency)


def _deadline(session: Session) -> float:
    """Seconds that a worker may need for one trial: hooks have their own time, and the rate limit takes some."""
    execution = session.project.execution
    hooks = max(bool(scenario.setup) + bool(scenario.teardown) for scenario in session.scenarios)
    limit = execution.requests_per_minute
    held = HELD_REQUESTS * 60 * execution.concurrency / limit if limit else 0.0
    return execution.timeout * (1 + hooks) + held


def _pricer(project: Project) -> Pricer:
    return Pricer(project.budget.prices, project.config.model.provider)


def imported_suite(project: Project) -> Importer | None:
    """The suite of another tool that the project measures. Raises `UsageError`."""
    spec = project.imported
    if spec is None:
        return None
    make: Callable[[SuiteSpec], Importer] = Catalogue.of(Group.IMPORTERS).load(spec.kind).create
    return make(spec.model_copy(update={"config": project.config}))


def _adapter(project: Project, importer: Importer | None) -> Adapter:
    if importer is not None and (own := importer.adapter(project.agent, project.config)) is not None:
        return routed(own, project.agent)
    if importer is not None and project.agent.adapter == importer.name:
        raise UsageError(f"agent.adapter is missing: a suite of {importer.name} needs an agent that runs it")
    make: Callable[..., Adapter] = Catalogue.of(Group.ADAPTERS).load(project.agent.adapter).create
    return routed(make(project.agent, project.config), project.agent)


def _case(scenario: Scenario, root: Path) -> Case:
    hooks = resolve_hooks(scenario, root)
    return Case(scenario, resolve_doubles(scenario, root), hooks.setup, hooks.teardown)


def _names(scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    return tuple(scenario.name for scenario in scenarios)


def _chosen(project: Project, names: Sequence[str]) -> tuple[Scenario, ...]:
    known = {scenario.name: scenario for scenario in project.scenarios}
    for name in names:
        if name not in known:
            raise UsageError(f"--scenario {name}: there is no such scenario. {nearest(name, known)}")
    return tuple(scenario for scenario in project.scenarios if not names or scenario.name in names)


def _check_doubles(adapter: Adapter, scenarios: Sequence[Scenario]) -> None:
    """A double that cannot answer would let the real tool run, thousands of times; one may be needed, too."""
    _check_needed(adapter, scenarios)
    wanted = {name: scenario.name for scenario in scenarios for name in scenario.tools}
    if not wanted:
        return
    able = adapter.doubled_tools()
    for tool, scenario in wanted.items():
        if isinstance(inside(adapter), RunsOutside):
            raise UsageError(
                f"scenario {scenario} doubles the tool {tool!r}, but the agent calls its tools in a process of its "
                "own, where they cannot be intercepted. Have the program use a stand-in, as by a variable of agent.env"
            )
        if tool not in able:
            raise UsageError(
                f"scenario {scenario} doubles the tool {tool!r}, but its calls cannot be intercepted, so "
                f"the real one would run. {nearest(tool, able)} For a callable agent, mark the function "
                "with @agentmut.tool in the agent's module; for LangGraph, call it through a ToolNode."
            )


def _check_needed(adapter: Adapter, scenarios: Sequence[Scenario]) -> None:
    agent = inside(adapter)
    needed = agent.needs_doubles if isinstance(agent, NeedsDoubles) else ()
    for tool in sorted(needed):
        if without := [scenario.name for scenario in scenarios if tool not in scenario.tools]:
            raise UsageError(
                f"the tool {tool!r} has no function, and scenario {without[0]} does not double it. Add the function "
                "to agent.functions, or a double under `tools:` of the scenario"
            )


def _check_tools_judged(adapter: Adapter, evaluators: Mapping[str, Sequence[Evaluator]]) -> None:
    """`tool_not_called` of a misspelt tool would hold for ever."""
    configured = adapter.get_config().tool_names
    judged = [
        (scenario, tool)
        for scenario, judges in evaluators.items()
        for j in judges
        for tool in tools_judged(j)
    ]
    unknown = [(scenario, tool) for scenario, tool in judged if tool not in configured]
    if not (configured and unknown):
        return
    known = sorted({*configured, *_tools_built(adapter)})
    for scenario, tool in unknown:
        if tool not in known:
            raise UsageError(
                f"an evaluator of scenario {scenario} speaks of the tool {tool!r}, which the agent does not "
                f"have. {nearest(tool, known)}"
            )


def _tools_built(adapter: Adapter) -> tuple[str, ...]:
    """Names of the tools of the agent as it is built, which may have some that the project file does not list."""
    try:
        return tuple(tool.name for tool in adapter.get_tools())
    except AdapterError:  # its runs will tell
        return ()


def _code(project: Project) -> str:
    """Hash of the project's source files, without modules that only judge runs: those shape no trial.

    They are named by evaluators, by what runs are compared by, or by relations (what those change is part of a
    trial's key); and neither by what makes a run nor by another source file.
    """
    specs = [spec for s in project.scenarios for spec in (*s.evaluators, *s.compare)]
    specs += [named(written) for written in project.relations.compare or ()]
    judges = [*map(_function_of, specs), *project.relations.own]
    modules = {name.partition(":")[0] for name in judges if isinstance(name, str)}
    files = {name: project.root / f"{name.replace('.', '/')}.py" for name in modules - _running(project)}
    judging = {name: path for name, path in files.items() if path.is_file()}
    return code_digest(project.root, unused_elsewhere(project.root, judging), project.agent)


def _function_of(spec: EvaluatorSpec) -> JsonValue:
    """The `module:function` that an evaluator of the user's own names."""
    if spec.name not in ("python", "langsmith"):
        return None
    return spec.argument.get("function") if isinstance(spec.argument, dict) else spec.argument


def _running(project: Project) -> set[str]:
    """The modules that make a run: the agent's, and those of doubles, preparation and cleaning up."""
    spec = project.agent
    found = [spec.factory, spec.run, spec.functions, project.sources.tools]
    found += [  # python path/to/agent.py, or python -m path.to.agent
        word.removeprefix("./").removesuffix(".py").replace("/", ".")
        for word in " ".join(spec.command).split()
    ]
    for scenario in project.scenarios:
        found += [scenario.setup, scenario.teardown, *(double.python for double in scenario.tools.values())]
    return {reference.partition(":")[0] for reference in found if reference}


def _baseline(project: Project, scenarios: int, mutants: int) -> int:
    wanted = project.statistics.baseline
    automatic = wanted == "auto"
    size = automatic_size(mutants) if wanted == "auto" else wanted
    cut = baseline_within_trials(project.budget.trials, size, scenarios, automatic=automatic)
    if cut.refusal:
        raise UsageError(cut.refusal)
    return cut.trials


def _baseline_limit(project: Project) -> BaselineLimit | None:
    budget = project.budget
    if project.statistics.baseline != "auto" or (budget.usd is None and budget.minutes is None):
        return None
    return BaselineLimit(usd=budget.usd, minutes=budget.minutes, concurrency=project.execution.concurrency)


def _check_prices(project: Project, mutants: Sequence[Mutant]) -> None:
    """Models that only mutants call would be found to have no price when most of the money is spent."""
    if project.budget.usd is None:
        return
    edits = (edit for mutant in mutants for edit in mutant.edits if edit.pointer == "/model/name")
    pricer, one = _pricer(project), Usage(input_tokens=1, output_tokens=1)
    unknown = {str(edit.after) for edit in edits if pricer.cost(str(edit.after), one) is None}
    if unknown:
        raise UsageError(price_missing(unknown))


def _check_judge_prices(session: Session) -> None:
    """A budget in money covers what judges cost."""
    if session.project.budget.usd is None:
        return
    judges = [unwrapped(one) for found in session.tests.evaluators.values() for one in found]
    models = {one.model for one in judges if isinstance(one, AsksModel)}
    prices, one = session.project.budget.prices, Usage(input_tokens=1, output_tokens=1)
    if unknown := {m.name for m in models if Pricer(prices, m.provider).cost(m.name, one) is None}:
        raise UsageError(price_missing(unknown))


def _why_none(generation: Generation) -> str:
    if generation.unselected:
        return f"the filters leave none of {generation.unselected}. `agentmut mutants` lists them all."
    reasons = [f"{operator}: {reason}" for operator, reason in generation.empty]
    return "; ".join(reasons) if reasons else "the filters leave none. `agentmut mutants` lists them all."
