"""Verdicts on the agent as it is, and comparisons with how it was: for the command line and for Python."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agentmut._base import BudgetError, RunInterruptedError, UsageError, __version__, first_fault
from agentmut.assessment import (
    PreparedAssessment,
    RunSettings,
    next_looks,
    prepare_saving,
    prepare_test,
    saved_scenarios,
)
from agentmut.campaign import Session, Stop, agent_of
from agentmut.project import Project, load_project
from agentmut.store import (
    SavedBaseline,
    SavedScenario,
    Store,
    VerdictReport,
    becoming,
    check_baseline_name,
    read_baseline,
    write_baseline,
)
from agentmut.usecases.assessing import (
    Progress,
    baselines_folder,
    carry_out_assessment,
    raise_problem,
    run_prepared,
    unseen,
)
from agentmut.usecases.baseline_check import checked_baseline
from agentmut.usecases.baseline_growth import carry_out_update, comparison, prepare_update
from agentmut.usecases.behaviour import behaviour_against
from agentmut.usecases.notebook import beside_kernel, spent_so_far
from agentmut.usecases.runtime import opened
from agentmut.usecases.warm_start import earlier_trials


def check_suite(
    project: Project | str | Path = ".",
    *,
    scenarios: Sequence[str] = (),
    seed: int | None = None,
    fresh: bool = False,
    behaviour: str | None = None,
    **settings: str | float,
) -> VerdictReport:
    """Return the suite's verdicts on the unchanged agent: `agentmut test`.

    `behaviour` names a stored baseline whose behaviour today's is compared with; that changes no verdict.
    `settings` take the place of the project's `test:` section: method, trials, margin, warm_start, correction. Raises
    the errors of `agentmut._base.errors`. A report whose `status` is `budget` or `interrupted` is partial.
    """

    def checked(progress: Progress) -> VerdictReport:
        with opened(with_settings(project, "test", settings), scenarios) as (session, store):
            with_behaviour = behaviour_against(session, store, behaviour)
            past = earlier_trials(session, store, fresh=fresh, seed=seed)
            prepared = prepare_test(session, RunSettings(time.time(), seed, fresh), past)
            return with_behaviour(carry_out_assessment(session, prepared, store, progress))

    return beside_kernel("agentmut.check_suite", checked, spent_so_far)


def save_baseline(
    project: Project | str | Path = ".",
    name: str | None = None,
    trials: int | None = None,
    *,
    scenarios: Sequence[str] = (),
    seed: int | None = None,
    fresh: bool = False,
) -> SavedBaseline:
    """Store the agent's pass rates and trials as the baseline `name`: `agentmut baseline save`.

    Without a name the baseline is the project's `gate.baseline`, or else `default`. Without `trials` each scenario has
    `compare.trials`. Raises the errors of `agentmut._base.errors`: `BudgetError` when a budget ends the run; no
    baseline is kept then.
    """
    loaded = project if isinstance(project, Project) else load_project(Path(project))
    name = check_baseline_name(loaded.baseline_name if name is None else name)
    kept_as = name

    def saved(progress: Progress) -> SavedBaseline:
        with opened(loaded, scenarios) as (session, store):
            prepared = prepare_saving(session, trials, RunSettings(time.time(), seed, fresh))
            return carry_out_saving(session, prepared, store, kept_as, progress)

    return beside_kernel("agentmut.save_baseline", saved, spent_so_far)


def compare_with_baseline(
    project: Project | str | Path = ".",
    name: str | None = None,
    *,
    scenarios: Sequence[str] = (),
    seed: int | None = None,
    fresh: bool = False,
    update: bool = False,
    update_trials: int | None = None,
    behaviour: bool = False,
    **settings: str | float,
) -> VerdictReport:
    """Return whether the agent has become worse than the baseline `name`: `agentmut baseline compare`.

    Without a name the baseline is the project's `gate.baseline`, or else `default`. With `behaviour`, fingerprints of
    the runs are compared too; that changes no verdict. With `update` the baseline grows after PASS, by `update_trials`
    of every scenario, or by what its check misses.

    `settings` take the place of the project's `compare:` section: method, trials, test, correction. Raises the
    errors of `agentmut._base.errors`. A report whose `status` is `budget` or `interrupted` is partial.
    """

    def compared(progress: Progress) -> VerdictReport:
        with opened(with_settings(project, "compare", settings), scenarios) as (session, store):
            asked = RunSettings(time.time(), seed, fresh)
            with_name = session.project.baseline_name if name is None else name
            with_behaviour = behaviour_against(session, store, with_name if behaviour else None)
            if update:
                updating = prepare_update(session, store, with_name, asked, update_trials)
                report = carry_out_update(session, updating, store, progress)
            else:
                prepared = comparison(session, store, with_name, asked)
                report = carry_out_assessment(session, prepared, store, progress)
            return with_behaviour(report)

    return beside_kernel("agentmut.compare_with_baseline", compared, spent_so_far)


def with_settings(project: Project | str | Path, section: str, changes: Mapping[str, Any]) -> Project:
    """Return the project with some settings of its file replaced. Raise `UsageError`."""
    loaded = project if isinstance(project, Project) else load_project(Path(project))
    settings = getattr(loaded, section)
    try:
        changed = type(settings).model_validate({**settings.model_dump(exclude_unset=True), **changes})
    except ValidationError as error:
        fault = first_fault(error)
        raise UsageError(f"{fault.with_value(section)}.") from None
    return loaded.model_copy(update={section: changed})


def carry_out_saving(
    session: Session, prepared: PreparedAssessment, store: Store, name: str, progress: Progress = unseen
) -> SavedBaseline:
    """Run the trials and keep the baseline `name`. Raises `BudgetError` or `RunInterruptedError` if cut short."""
    work, stop = run_prepared(session, prepared, store, progress)
    raise_problem(work)
    if stop is not Stop.FINISHED:
        kind = RunInterruptedError if stop is Stop.INTERRUPTED else BudgetError
        done = sum(len(lane.passed) for lane in work.lanes.values())
        raise kind(
            f"{stop} after {done} of {prepared.most_trials} trials: baseline {name!r} was not saved. Give the command "
            f"again to go on: {becoming(work.forgot)}."
        )
    folder = baselines_folder(session.project)
    scenarios = next_looks(saved_scenarios(session, work), _replaced(name, folder))
    baseline = SavedBaseline(
        agentmut_version=__version__,
        name=name,
        saved=work.plan.started,
        run_id=work.plan.run_id,
        seed=work.plan.seed,
        agent=agent_of(session),
        scenarios=scenarios,
    )
    baseline = checked_baseline(session, store, baseline)
    write_baseline(baseline, folder)
    return baseline


def _replaced(name: str, folder: Path) -> Mapping[str, SavedScenario]:
    """Return the scenarios of the old baseline with that name; none if it is missing or unreadable."""
    try:
        return read_baseline(name, folder).scenarios
    except UsageError:
        return {}


def carry_out_probe(
    session: Session, prepared: PreparedAssessment, store: Store, progress: Progress = unseen
) -> None:
    """Run some trials of the unchanged agent, which later runs reuse. Raises `RunInterruptedError` if cut short."""
    work, stop = run_prepared(session, prepared, store, progress)
    raise_problem(work)
    if stop is Stop.INTERRUPTED:
        raise RunInterruptedError(f"interrupted; {becoming(work.forgot)}.")
