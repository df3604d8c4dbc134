"""The reports of a project's earlier runs, and the changes of the project since then."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from agentmut._base import UsageError
from agentmut.campaign import Environment, RunPlan, Session, suite_digest
from agentmut.nouns import AgentSummary, Result, parse_result, read_result
from agentmut.store import RESCORED, RESULT, KeptReport, VerdictReport, parse_verdicts, read_verdicts

Report = Result | VerdictReport
CHEAP = "cheap model"
"""The kind of a run that asked a cheap model in the place of the agent's own (`mutation.proxy`)."""


class OfAnAgent(Protocol):
    """A stored report: of a campaign, a test, a comparison or a check of relations."""

    @property
    def run_id(self) -> str:
        """Return the id of the run."""
        ...

    @property
    def agent(self) -> AgentSummary:
        """Return the agent that was run."""
        ...


class StoredReport(NamedTuple):
    """The report of one run."""

    run: str
    report: Report | None
    problem: str = ""
    """Why it cannot be read, where there is no report."""
    rescored: bool = False
    """Whether `agentmut rescore` has judged its trials again; the report is what the run itself came to."""

    @property
    def kind(self) -> str:
        """Return the kind: run, cheap model, test or compare; empty if the report cannot be read."""
        if isinstance(self.report, Result):
            return CHEAP if self.report.asks else "run"
        return self.report.kind if self.report else ""


def stored_reports(runs: Path, begins: str = "") -> Iterator[StoredReport]:
    """Yield the results and verdicts in a project's folder of runs whose ids begin so, in the order of time."""
    for folder in sorted(runs.glob("*")):
        if folder.name.startswith(begins):
            yield from _reports_in(folder)


def _reports_in(folder: Path) -> Iterator[StoredReport]:
    for name, read in (("result.json", read_result), ("verdicts.json", read_verdicts)):
        if not (folder / name).is_file():
            continue
        try:
            rescored = name == "result.json" and (folder / RESCORED).is_file()
            yield StoredReport(folder.name, read(folder / name), rescored=rescored)
        except UsageError as error:
            yield StoredReport(folder.name, None, str(error))


def report_kept(kept: KeptReport) -> StoredReport:
    """Return a result or verdicts that the store has."""
    place = f"{kept.name} of run {kept.run} in the store"
    try:
        if kept.name == RESULT:
            return StoredReport(kept.run, parse_result(lambda: kept.text, place))
        return StoredReport(kept.run, parse_verdicts(lambda: kept.text, place))
    except UsageError as error:
        return StoredReport(kept.run, None, str(error))


def changed_since(session: Session, report: OfAnAgent, plan: RunPlan | None) -> str:
    """Return what has changed in the project since a run; empty if nothing has.

    `plan` is the run's, None where the store does not know the run. The address of the model service is not looked
    at: whoever decides on stored evidence need not have the service at hand.
    """
    if report.agent.digest != session.suite.full.digest:
        return "the agent's config has changed since"
    if plan is None:
        return "its plan is not in the store, so nothing tells whether the suite or the code is the same"
    changed = []
    if plan.config_digest != session.suite.full.digest:
        changed.append("the agent's config")
    if plan.suite_digest != suite_digest(session):
        changed.append("the suite (other scenarios or evaluators)")
    if shaping(plan.environment) != shaping(session.environment):
        changed.append("the agent's code or packages")
    return f"{' and '.join(changed)} changed since" if changed else ""


def shaping(environment: Environment) -> dict[str, object]:
    """Return what shapes trials besides config and scenario, without addresses of services."""
    return environment.model_dump(exclude={"endpoints", "agentmut", "record"})
