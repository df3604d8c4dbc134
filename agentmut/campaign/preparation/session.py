"""From a project to a campaign that is ready to run: the adapter, the suite, the mutants, the plan."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agentmut._base import UsageError, digest_of, make_importable, nearest
from agentmut.campaign.limits import (
    BaselineLimit,
    baseline_within_trials,
    first_round_within_trials,
    price_missing,
)
from agentmut.campaign.preparation.agents_own import with_agents_own
from agentmut.campaign.preparation.common_prefix import by_common_prefix
from agentmut.campaign.preparation.drawing import drawing_order
from agentmut.campaign.preparation.evaluator_age import (
    Ages,
    first_of_mutants,
    first_repeats,
    fixed_sets,
    price_of_new_series,
)
from agentmut.campaign.preparation.history import by_yield, read_history
from agentmut.campaign.preparation.identity import Environment, environment
from agentmut.campaign.preparation.imported import agents_adapter, imported_suite, with_suite
from agentmut.campaign.preparation.plan import Plan, Rule, new_run_id
from agentmut.campaign.preparation.process_needs import kept_lock_needs, process_needs
from agentmut.campaign.preparation.shaping_code import judging_code, shaping_code
from agentmut.campaign.preparation.tools_fit import check_tools_judged
from agentmut.campaign.trials import Suite
from agentmut.judging import bounded, bounded_calls, build_all, remembering, unwrapped
from agentmut.mutation import Generation, destroyed_mutant, identity_mutant
from agentmut.nouns import AgentConfig, Ending, Mutant, OpinionCache, Origin, Scenario, ToolSpec, Usage
from agentmut.project import FOLDER, Project, redactor
from agentmut.recording import NOT_KEPT, TextKeeping, Texts
from agentmut.seams import (
    Adapter,
    AsksModel,
    Catalogue,
    Evaluator,
    Group,
    HoldsInputs,
    HoldsTrials,
    RunsAlone,
    RunsCases,
    RunsOutside,
)
from agentmut.stats import Round, automatic_size, rounds_to
from agentmut.store import OpinionFile, PassingOpinions
from agentmut.trial import (
    Case,
    Executor,
    LocalExecutor,
    Pricer,
    ProcessExecutor,
    RunSettings,
    SuiteConfig,
    inside,
    provider_of,
    remedy_on_wire,
    resolve_doubles,
    resolve_hooks,
)
from agentmut.wire import shared_rate, slowest_rate

HELD_REQUESTS = 20
"""Requests of one trial that may have to wait for the rate limit before a worker counts as stuck."""

PRECISE_BETA = 0.01
"""The chance of missing a drop where a precision of the score is asked for: with 0.1 the missed drops alone would take
most of it. A survivor takes up to four trials a scenario in the first round instead of two."""


class Session(NamedTuple):
    """A project with its agent imported and its tests built."""

    project: Project
    adapter: Adapter
    suite: SuiteConfig
    scenarios: tuple[Scenario, ...]
    tests: Suite
    environment: Environment
    ages: Ages = MappingProxyType({})
    """When the evaluators of each scenario were fixed; empty for a session without a store."""

    @property
    def origin(self) -> Origin:
        """Return the origin that mutants are made from."""
        sources = with_agents_own(self.project, self.suite.full)
        return Origin(config=self.suite.full, sources=sources, file=self.project.path.name)


def _evaluators(
    project: Project, scenarios: Sequence[Scenario], catalogue: Catalogue
) -> dict[str, tuple[Evaluator, ...]]:
    """Return the evaluators of each scenario; those that run code of users have a deadline wherever they are asked."""
    opinions, execution = _opinions(project), project.execution
    calls = bounded_calls(execution.isolate_evaluators, execution.evaluator_timeout)
    return {
        one.name: tuple(
            bounded(remembering(judge, opinions), calls) for judge in _built(project, one, catalogue)
        )
        for one in scenarios
    }


def _built(project: Project, scenario: Scenario, catalogue: Catalogue) -> tuple[Evaluator, ...]:
    specs = scenario.evaluators
    return build_all(specs, catalogue, project.sources.evaluators_of(scenario.name, len(specs)))


def open_session(project: Project, scenarios: Sequence[str] = ()) -> Session:
    """Import the agent and build the tests; `scenarios` restricts the suite by name.

    Raises `UsageError` for what cannot be imported or does not fit, `AdapterError` when the agent cannot
    be built.
    """
    make_importable(project.root)
    importer = imported_suite(project)
    project = with_suite(project, importer)
    chosen = _chosen(project, scenarios)
    adapter = agents_adapter(project, importer)
    code = project.agent_version or shaping_code(project)
    catalogue = Catalogue.of(Group.EVALUATORS)
    texts = TextKeeping(Texts(project.store.texts), adapter.get_config(), chosen)
    evaluators = _evaluators(project, chosen, catalogue)
    check_tools_judged(adapter, evaluators)
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
        tests=Suite(
            {scenario.name: scenario for scenario in chosen},
            evaluators,
            texts,
            project.store.limits,
            _pricer(project),
        ),
        environment=environment(
            project.agent, adapter.versions(), code, project.execution.timeout, declared_variables(project)
        ),
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


def refuse_to_run(session: Session, what: str) -> None:
    """Raise `UsageError` if `what` needs new runs and the agent only hands out finished trials."""
    if held_trials(session):
        raise UsageError(
            f"{what} takes new runs of the agent, and suite.{session.project.agent.adapter} only has recorded ones. "
            "`agentmut test`, `coverage`, `trend` and `relations --stored` read them. To run the agent, name it under "
            "`agent` and its scenarios under `suite.scenarios`"
        )


def refuse_without_texts(session: Session, what: str) -> None:
    """Raise `UsageError` if `what` reads texts of runs and the project stores no texts."""
    if session.tests.texts.is_hidden:
        raise UsageError(
            f"{what} reads what agents, models and tools said, and store.texts: {session.project.store.texts} "
            "keeps no text. Set `store: {texts: full}` to use it, and run again: what is stored stays without texts"
        )


def declared_variables(project: Project) -> dict[str, str]:
    """Return the environment variables that the project file sets for its agent."""
    return {name: secret.get_secret_value() for name, secret in project.env.items()}


def plan_fields(session: Session, now: float, seed: int | None) -> dict[str, Any]:
    """Return the fields that every new `RunPlan` takes from its session; `seed` None stands for the project's seed."""
    project = session.project
    _check_judge_prices(session)
    return {
        "run_id": new_run_id(now),
        "started": now,
        "seed": project.statistics.seed if seed is None else seed,
        "budget": project.budget,
        "suite_digest": suite_digest(session),
        "config_digest": session.suite.full.digest,
        "evaluators": fixed_sets(session.ages),
        "environment": session.environment,
        "concurrency": project.execution.concurrency,
    }


def make_plan(session: Session, generation: Generation, seed: int | None, now: float) -> Plan:
    """Return the plan of a new run. Raises `UsageError` without mutants, or when the budget is too small."""
    refuse_to_run(session, "a campaign of mutants")
    if not generation.mutants:
        raise UsageError(f"no mutants to run: {_why_none(generation)}")
    project, settings = session.project, session.project.statistics
    _check_prices(project, generation.mutants)
    rounds = _rounds(project, len(session.scenarios))
    baseline = (
        rounds[-1].baseline if rounds else _baseline(project, len(session.scenarios), len(generation.mutants))
    )
    price = tuple(price_of_new_series(session.ages, baseline, settings.n_max))
    return Plan(
        **plan_fields(session, now, seed),
        scenarios=tuple(scenario.name for scenario in session.scenarios),
        baseline=baseline,
        rounds=rounds,
        first=first_repeats(session.ages),
        first_of_mutants=first_of_mutants(session.ages),
        baseline_limit=_baseline_limit(project),
        mutants=generation.mutants,
        order=by_yield(by_common_prefix(generation.mutants), read_history(project.runs)),
        sample=drawing_order(generation.mutants, settings.seed if seed is None else seed),
        precision=settings.precision,
        selective=generation.selective,
        identity=tuple(identity_mutant(session.suite.full, kind) for kind in project.mutation.identity),
        destroyed=destroyed_mutant(session.suite.full, session.adapter.cannot_express),
        ignored=dict(generation.ignored),
        price=price,
        notes=(*price, *generation.notes, *session.tests.notes()),
        rule=Rule(
            alpha=settings.alpha_of_a_look,
            beta=settings.beta if settings.precision is None else min(settings.beta, PRECISE_BETA),
            delta=settings.delta,
            n_max=settings.n_max,
            suite_share=settings.suite_share,
            clear_on=settings.scenarios_to_clear,
        ),
        window=project.execution.window,
    )


def executor_here(session: Session, seed: int | None) -> Executor:
    """Return what runs trials on this machine, once each."""
    execution = session.project.execution
    agent = inside(session.adapter)
    outside = isinstance(agent, RunsOutside)  # then each agent has a process of its own
    alone = isinstance(agent, RunsAlone) and agent.runs_alone
    if (_isolates(session) or alone) and not outside:
        make = partial(_worker_executor, session.project, _names(session.scenarios), seed)
        no_evidence = isinstance(agent, RunsCases) and agent.raised == "error"
        exit_ends = Ending.CASE_ERROR if no_evidence else Ending.RAISED
        return ProcessExecutor(make, execution.concurrency, trial_deadline(session), exit_ends)
    return local_executor(session, seed)


def _isolates(session: Session) -> bool:
    """Return whether each trial has its own process: as the project says, or for `auto` as the agent's code needs."""
    project, wanted = session.project, session.project.execution.isolate
    if wanted != "auto":
        return wanted == "process"
    return any(process_needs(project.root)) or any(
        kept_lock_needs(session.adapter, session.scenarios, project.root)
    )


def local_executor(session: Session, seed: int | None = None, sharing: int = 1) -> LocalExecutor:
    """Return the executor of the session's trials in this process, one of `sharing` executors under one rate limit."""
    project = session.project
    settings = RunSettings(
        timeout=project.execution.timeout,
        seed=project.statistics.seed if seed is None else seed,
        requests_per_minute=shared_rate(project.execution.requests_per_minute, sharing),
        record=project.execution.record,
        proxy_port=project.agent.proxy_port,
        intercept=project.agent.intercepted,
        redact=_redact(project),
    )
    cases = {scenario.name: _case(scenario, project.root) for scenario in session.scenarios}
    return LocalExecutor(session.adapter, session.suite, cases, _pricer(project), settings)


def _redact(project: Project) -> Callable[[str], str]:
    """Return the function that redacts texts before they are cut for the store or quoted in an error."""
    return redactor(project).text if project.store.keeps_texts else _nothing_kept


def _nothing_kept(text: str) -> str:
    return NOT_KEPT if text else ""


def suite_digest(session: Session) -> str:
    """Return a digest of the suite's inputs and evaluators, including the user's own code."""
    asked = [scenario.model_dump(mode="json") for scenario in session.scenarios]
    judging = judging_code(session.project)
    return digest_of([*asked, judging] if judging else asked)


def _worker_executor(project: Project, scenarios: tuple[str, ...], seed: int | None) -> Executor:
    session = open_session(project, scenarios)
    return local_executor(session, seed, sharing=project.execution.concurrency)


def trial_deadline(session: Session) -> float:
    """Return the seconds that a worker may need for one trial, including its hooks and the wait for the rate limit."""
    execution = session.project.execution
    hooks = max(bool(scenario.setup) + bool(scenario.teardown) for scenario in session.scenarios)
    limit = slowest_rate(execution.requests_per_minute)
    held = HELD_REQUESTS * 60 * execution.concurrency / limit if limit else 0.0
    return execution.timeout * (1 + hooks) + held


def _pricer(project: Project) -> Pricer:
    return Pricer(project.budget.prices, provider_of(project))


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


def _rounds(project: Project, scenarios: int) -> tuple[Round, ...]:
    """Return the rounds of a campaign; none if the project wants its finest drop at once."""
    settings = project.statistics
    if settings.rounds == "one":
        return ()
    rounds = rounds_to(settings.delta, None if settings.baseline == "auto" else settings.baseline)
    cut = first_round_within_trials(project.budget.trials, rounds[0].baseline, scenarios)
    if cut.refusal:
        raise UsageError(cut.refusal)
    return (rounds[0]._replace(baseline=cut.trials), *rounds[1:])


def _baseline(project: Project, scenarios: int, mutants: int) -> int:
    wanted = project.statistics.baseline
    automatic = wanted == "auto"
    size = automatic_size(mutants) if wanted == "auto" else wanted
    cut = baseline_within_trials(project.budget.trials, size, scenarios, automatic=automatic)
    if cut.refusal:
        raise UsageError(cut.refusal)
    return cut.trials


def _baseline_limit(project: Project) -> BaselineLimit | None:
    budget, settings = project.budget, project.statistics
    if (settings.rounds == "one" and settings.baseline != "auto") or (
        budget.usd is None and budget.minutes is None
    ):
        return None
    return BaselineLimit(usd=budget.usd, minutes=budget.minutes, concurrency=project.execution.concurrency)


def _check_prices(project: Project, mutants: Sequence[Mutant]) -> None:
    """Refuse models without a price that only mutants call, before most of the money is spent."""
    if project.budget.usd is None:
        return
    edits = (edit for mutant in mutants for edit in mutant.edits if edit.pointer == "/model/name")
    pricer, one = _pricer(project), Usage(input_tokens=1, output_tokens=1)
    unknown = {str(edit.after) for edit in edits if pricer.cost(str(edit.after), one) is None}
    if unknown:
        raise UsageError(price_missing(unknown))


def _check_judge_prices(session: Session) -> None:
    """Refuse a budget in money where a judge's model has no price: the budget covers judges."""
    if session.project.budget.usd is None:
        return
    judges = [unwrapped(one) for found in session.tests.evaluators.values() for one in found]
    models = {one.model for one in judges if isinstance(one, AsksModel)}
    prices, one = session.project.budget.prices, Usage(input_tokens=1, output_tokens=1)
    if unknown := {m.name for m in models if Pricer(prices, m.provider).cost(m.name, one) is None}:
        raise UsageError(price_missing(unknown))


def _why_none(generation: Generation) -> str:
    if generation.unselected:
        return f"the filters leave out all {generation.unselected} mutants. `agentmut mutants` lists them."
    kinds: dict[str, list[str]] = {}
    for operator, reason in generation.empty:
        kinds.setdefault(operator.partition(".")[0], []).append(reason.partition(", because ")[2] or reason)
    if not kinds:
        return "the filters leave out all mutants. `agentmut mutants` lists them."
    shown = (f"{kind}: {max(reasons, key=reasons.count)}" for kind, reasons in kinds.items())
    return f"{'; '.join(shown)}. `agentmut mutants` lists every reason."
