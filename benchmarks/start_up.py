"""What `agentmut --help` costs and imports: a user who completes a command in the shell waits for it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
HELP = "from agentmut.cli import main; main()"
HEAVY = (
    "scipy",
    "numpy",
    "langgraph",
    "langchain_core",
    "openai",
    "anthropic",
    "httpx",
    "sqlalchemy",
    "nltk",
)
FORBIDDEN = ("scipy", "langgraph", "langchain_core", "openai", "anthropic")
LOADED = f"""
import sys
sys.argv = ["agentmut", "--help"]
try:
    {HELP}
except SystemExit:
    pass
print("LOADED", *(name for name in {HEAVY!r} if name in sys.modules))
"""


def _processor_time() -> float:
    """Return seconds that child processes have used so far."""
    times = os.times()
    return times.children_user + times.children_system


def start_up(runs: int) -> Iterator[Figure]:
    """`agentmut --help`: how long, and what it imports."""
    seconds, processor = [], []
    for _ in range(runs):
        begun, used = time.perf_counter(), _processor_time()
        subprocess.run([sys.executable, "-c", HELP, "--help"], cwd=ROOT, capture_output=True, check=True)
        seconds.append(time.perf_counter() - begun)
        processor.append(_processor_time() - used)
    quickest = min(processor)
    yield Figure(
        f"agentmut --help, processor time, best of {runs}",
        f"{quickest:.3f} s ({min(seconds):.3f} s by the clock)",
        "< 0.3 s",
        quickest < 0.3,
    )
    output = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = output.stdout.rsplit("LOADED", 1)[1].split()
    guilty = [name for name in loaded if name in FORBIDDEN]
    yield Figure(
        "heavy modules it imports", ", ".join(loaded) or "none", "no scipy, framework, SDK", not guilty
    )
