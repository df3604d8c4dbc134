"""From a thin suite to a better one, on a few mutants of one agent. `make slow` does it at full length."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.whole

pytest.importorskip("agentdojo", reason="a development dependency")


@pytest.fixture(scope="module")
def study() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "closing_the_loop.py"
    spec = importlib.util.spec_from_file_location("closing_the_loop", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its named tuples look up their module
    spec.loader.exec_module(module)
    return module


def test_what_is_suggested_for_survivors_kills_them_when_it_is_applied(study: Any) -> None:
    done = {"python": "dojo.banking:task_done"}
    agent = study.Thin(
        "banking",
        "agentdojo",
        "banking.yaml",
        kept={"pay_the_difference": done, "security_check": done},
        sections={
            "mutation": {"operators": ["prompt.drop_instruction"], "sample": 6},
            "statistics": {"baseline": 15, "n_max": 15, "delta": 0.5, "seed": 1},
        },
    )
    loop = study.closed(agent, search=5)
    killed = loop.before.score.killed
    assert loop.proposed.suggestions.assertions
    assert loop.rescored.after.killed > killed and loop.after.score.killed > killed
    assert loop.after.cost.reused > 0
