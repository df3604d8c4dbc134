"""Commands that run behind a server of agentmut's: signals reach them."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from agentmut.cli import serving

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("name", "number"), [("HUP", signal.SIGHUP), ("INT", signal.SIGINT), ("TERM", signal.SIGTERM)]
)
def test_signals_reach_a_command_that_no_terminal_tells(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_in_foreground", lambda: False)
    ready = tmp_path / "ready"
    script = f"trap 'exit 5' {name}; : > {ready}; while :; do sleep 0.02; done"

    async def signalled() -> int:
        running = asyncio.ensure_future(serving.run_command(["sh", "-c", script], {}))
        while not ready.exists():
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), number)
        return await asyncio.wait_for(running, 600)

    before = signal.signal(number, signal.SIG_DFL)  # what is ignored, as under nohup, no shell can trap
    try:
        assert asyncio.run(signalled()) == 5
    finally:
        signal.signal(number, before)
