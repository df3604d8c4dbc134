"""The number of function calls that agentmut makes for a trial. Unlike time, it is the same on a busy machine.

`benchmarks/overhead.py` measures the time. If a change makes more calls on purpose, raise `CALLS` and say why in the
commit; if it makes fewer, lower `CALLS`, so that the next change is compared with that.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agentmut import measure

pytestmark = pytest.mark.whole

CALLS = 638
"""Calls of functions of agentmut for one more trial of an agent that does nothing."""
TOLERANCE = 0.05
FEW, MANY = 90, 170
INLINED = ("<listcomp>", "<dictcomp>", "<setcomp>")
"""Functions to Python 3.11 only."""

AGENT = "async def run(config, input):\n    return 'yes' if config.prompt else 'no'\n"
PROJECT = """
version: 1
agent: {{adapter: python, run: "{module}:run", config: {{prompt: "Be brief. Never guess. Never shout."}}}}
suite: {{scenarios: scenarios.yaml}}
mutation: {{operators: [prompt.drop_instruction]}}
statistics: {{baseline: 20}}
budget: {{trials: {trials}}}
"""


class Count:
    calls = 0


@contextmanager
def counted() -> Iterator[Count]:
    """Count the calls of functions of agentmut, in all threads."""
    count = Count()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        own = str(frame.f_globals.get("__name__")).startswith("agentmut.")
        count.calls += own and event == "call" and frame.f_code.co_name not in INLINED

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield count
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def calls_of(trials: int, folder: Path) -> int:
    """Count the calls of a campaign that its budget ends after so many trials."""
    folder.mkdir()
    module = f"calls_of_{trials}_{folder.name}"
    (folder / f"{module}.py").write_text(AGENT)
    cases = (f"- {{name: s{i}, input: hello, evaluators: [contains: 'yes']}}\n" for i in range(4))
    (folder / "scenarios.yaml").write_text("".join(cases))
    (folder / "agentmut.yaml").write_text(PROJECT.format(module=module, trials=trials))
    with counted() as count:
        result = measure(folder)
    assert result.cost.trials == trials
    return count.calls


def test_a_trial_takes_no_more_calls_than_the_reference(tmp_path: Path) -> None:
    calls_of(MANY, tmp_path / "first")  # imports, and what is kept for later campaigns
    few, many = calls_of(FEW, tmp_path / "few"), calls_of(MANY, tmp_path / "many")
    calls = (many - few) / (MANY - FEW)
    assert calls == pytest.approx(CALLS, rel=TOLERANCE)
