"""Python's own end looks through every object once more unless the command spares it that: up to a second."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process


def test_a_command_ends_without_a_last_look_at_every_object() -> None:
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print('frozen:', gc.get_freeze_count() > 1000))\n"
        "sys.argv = ['agentmut', 'serve', '--help']\n"
        "from agentmut.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("frozen: True\n")
