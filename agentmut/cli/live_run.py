"""`agentmut run --serve`: the campaign's progress on a live page, beside the line of the terminal."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from agentmut._base import stop_signals
from agentmut.campaign import CampaignState
from agentmut.cli.live_server import LiveServer
from agentmut.cli.live_state import Decisions, live_state
from agentmut.report import live_page

Progress = Callable[[CampaignState], None]
EACH = 0.5
"""Seconds between two states of the page."""


@contextmanager
def on_live_page(title: str, run: str, beside: Progress, *, wordless: bool = False) -> Iterator[Progress]:
    """Serve a page during the block, print its address on stderr, and yield the receiver of the campaign's progress.

    The page's stop button does what Ctrl-C does. `wordless`: the page shows no words
    of changes and of runs. Raises `RunError` where no port can be had.
    """
    with LiveServer(live_page(title, run), _stop) as server:
        typer.echo(f"Live page: {server.address}", err=True)
        shown = _PageProgress(server, beside, wordless=wordless)
        ended = "The run has ended. The terminal has its summary."
        try:
            yield shown
        except BaseException as error:
            ended = f"The run has ended: {error or type(error).__name__}"
            raise
        finally:
            shown.end(ended)


class _PageProgress:
    """Passes progress on, and renews the page's state now and then."""

    def __init__(self, server: LiveServer, beside: Progress, *, wordless: bool) -> None:
        self._wordless = wordless
        self._server = server
        self._beside = beside
        self._decisions = Decisions()
        self._latest: CampaignState | None = None
        self._last = 0.0

    def __call__(self, state: CampaignState) -> None:
        self._beside(state)
        self._latest = state
        if time.monotonic() - self._last >= EACH:
            self._server.show(live_state(state, self._decisions, wordless=self._wordless))
            self._last = time.monotonic()

    def end(self, text: str) -> None:
        """Show the last state with a text that says how the run ended."""
        if self._latest is not None:
            self._server.show(live_state(self._latest, self._decisions, text, wordless=self._wordless))


def _stop() -> None:
    """Ask the campaign to end, as Ctrl-C does."""
    os.kill(os.getpid(), stop_signals()[0])
