"""What the first trials of a campaign show of the project's saved request."""

from collections.abc import Callable

from agentmut.campaign import CampaignState, Session
from agentmut.doctor import unlike_saved
from agentmut.project import outdated_request, saved_request

Progress = Callable[[CampaignState], None]


def remarking(session: Session, progress: Progress) -> Progress:
    """Return the progress function, which first compares the requests of each scenario's first trial, once.

    Nothing is compared where the project has no saved request or keeps no texts of requests, and where the files of
    the project say already that the saved request is old.
    """
    project = session.project
    if saved_request(project) is None or outdated_request(project) or session.tests.texts.is_hidden:
        return progress
    remark: str | None = None

    def shown(state: CampaignState) -> None:
        nonlocal remark
        if remark is None and all(baseline.finished for baseline in state.baselines.values()):
            shapes = [shape for baseline in state.baselines.values() for shape in baseline.requests]
            remark = unlike_saved(session.project, shapes) if shapes else None
        state.remark = remark or ""  # after an outage the state is a new one
        progress(state)

    return shown
