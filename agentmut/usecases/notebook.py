"""Long calls from a notebook: they run in a thread beside the kernel's event loop, with a progress bar."""

import sys
import threading
import time
from collections.abc import Callable
from html import escape
from typing import Any, Generic, Protocol, TypeVar

from agentmut.campaign import Spend
from agentmut.usecases.campaign_progress import CampaignProgress
from agentmut.usecases.runtime import refuse_running_loop

Found = TypeVar("Found")
State = TypeVar("State")
EACH = 0.3
"""Seconds between two pictures of the bar."""


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class Spends(Protocol):
    """Work that counts what it has spent."""

    @property
    def spend(self) -> Spend:
        """Return what has been spent so far."""
        ...


def spent_so_far(work: Spends) -> CampaignProgress:
    """Return the trials and the money of work whose end is not known, so that it has no share."""
    money = "cost unknown" if work.spend.unpriced else f"${work.spend.usd:.2f}"
    return CampaignProgress(None, f"{work.spend.trials} trials, {money}")


def beside_kernel(
    called: str,
    call: Callable[[Callable[[State], None]], Found],
    progress_of: Callable[[State], CampaignProgress],
) -> Found:
    """Return the result of a call that starts an event loop; a cell of a notebook runs the call in a thread.

    `call` tells its state to the function that it is given, and `progress_of` makes a bar of a state. Outside of a
    notebook no bar is shown. Raises `UsageError`, with the name `called`, where an event loop runs already.
    """
    if in_notebook():
        return BesideKernel(call, progress_of).result()
    refuse_running_loop(called)
    return call(lambda state: None)


class BesideKernel(Generic[State, Found]):
    """Runs a call in a thread while the cell waits, and shows its progress."""

    def __init__(
        self,
        call: Callable[[Callable[[State], None]], Found],
        progress_of: Callable[[State], CampaignProgress],
    ) -> None:
        self._call = call
        self._told = progress_of
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

    def _take_in(self, state: State) -> None:
        if self._stopped:
            raise KeyboardInterrupt
        if time.monotonic() - self._last >= EACH:
            self._last = time.monotonic()
            self._progress = self._told(state)

    def _display(self) -> Any:
        from IPython.display import display

        return display(_html(bar(self._progress)), display_id=True)


def bar(progress: CampaignProgress) -> str:
    """Return the bar as HTML, with a sentence for screen readers.

    >>> bar(CampaignProgress(0.5, "mutants 1/2"))
    '<progress max="1" value="0.5" aria-label="agentmut"></progress> mutants 1/2'
    """
    share = "" if progress.share is None else f' value="{progress.share:g}"'
    return f'<progress max="1"{share} aria-label="agentmut"></progress> {escape(progress.text)}'


def _html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)
