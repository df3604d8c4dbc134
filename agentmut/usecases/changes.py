"""What has changed in a project since one of its runs."""

from agentmut.campaign import RunPlan, plan_of
from agentmut.project import Project
from agentmut.store import Store
from agentmut.usecases.changed_settings import changed_settings
from agentmut.usecases.runtime import agent_environment, open_store, session_in
from agentmut.usecases.stored_reports import OfAnAgent, changed_since


def changes_since(project: Project, report: OfAnAgent) -> str:
    """Return what has changed since a run, in words: config, suite, code, packages, thresholds or statistics.

    Empty where nothing has, and where the store does not know the run. Scenarios that were added since are no change:
    the report speaks of those that it names. Raises what opening the project raises.
    """
    with agent_environment(project), open_store(project) as store:
        plan = next((plan_of(stored) for stored in store.runs() if stored.id == report.run_id), None)
        return _changes(project, store, report, plan) if plan else ""


def _changes(project: Project, store: Store, report: OfAnAgent, plan: RunPlan) -> str:
    session = session_in(store, project)
    names = set(session.tests.scenarios)
    gone = sorted(set(plan.scenarios) - names)
    if gone:
        return f"the suite has lost {', '.join(gone[:3])}{' and others' if len(gone) > 3 else ''} since"
    if names != set(plan.scenarios):
        session = session_in(store, project, plan.scenarios)
    changed = changed_since(session, report, plan)
    settings = " and ".join(changed_settings(session, report))
    return "; ".join(filter(None, (changed, f"{settings} changed since" if settings else "")))
