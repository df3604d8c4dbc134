"""Long calls from a notebook: they run in a thread beside the kernel's event loop, with a progress bar."""

import sys
import threading
import time
from collections.abc import Callable
from html import escape
from typing import Any, Generic, TypeVar

from agentmut.campaign import CampaignState
from agentmut.usecases.campaign_progress import CampaignProgress, progress_of

Found = TypeVar("Found")
EACH = 0.3
"""Seconds between two pictures of the bar."""


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class BesideKernel(Generic[Found]):
    """Runs a call in a thread while the cell waits, and shows its progress."""

    def __init__(self, call: Callable[[Callable[[CampaignState], None]], Found]) -> None:
        self._call = call
        self._progress = CampaignProgress(0.0, "starting")
        self._last = 0.0
        self._stopped = False
        self._found: list[Found] = []
        self._problem: BaseException | None = None

    def result(self) -> Found:
        """Return the call's result, or raise its error. An interrupt of the kernel ends the call, as Ctrl-C does."""
        shown = self._display()
        thread = threading.Thread(target=self._run, name="agentmut-notebook", daemon=True)
        thread.start()
        while thread.is_alive():
            try:
                thread.join(EACH)
            except KeyboardInterrupt:
                self._stopped = True
            shown.update(_html(bar(self._progress)))
        if self._problem is not None:
            raise self._problem
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(self._call(self._take_in))
        except BaseException as error:  # raised again where the cell waits
            self._problem = error

    def _take_in(self, state: CampaignState) -> None:
        if self._stopped:
            raise KeyboardInterrupt
        if time.monotonic() - self._last >= EACH:
            self._last = time.monotonic()
            self._progress = progress_of(state)

    def _display(self) -> Any:
        from IPython.display import display

        return display(_html(bar(self._progress)), display_id=True)


def bar(progress: CampaignProgress) -> str:
    """Return the bar as HTML, with a sentence for screen readers.

    >>> bar(CampaignProgress(0.5, "mutants 1/2"))
    '<progress max="1" value="0.5" aria-label="agentmut"></progress> mutants 1/2'
    """
    return f'<progress max="1" value="{progress.share:g}" aria-label="agentmut"></progress> {escape(progress.text)}'


def _html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)
