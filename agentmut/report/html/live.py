"""The live page of a run, which asks only the command that serves it for the state."""

from agentmut.report.html.inline import cut
from agentmut.report.html.templating import rendered


def live_page(title: str, run: str) -> str:
    """Return the page. `title` names the project; the state comes from `state`, and `stop` ends the run."""
    return rendered(
        "live.html", ("live.js",), connect=True, title=cut(title, 120) or "agentmut", run=cut(run, 80)
    )
