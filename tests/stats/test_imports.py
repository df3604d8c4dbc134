"""What importing the statistics costs."""

import subprocess
import sys
from pathlib import Path

import agentmut.stats

SLOW = {"agentmut.stats.redness", "agentmut.stats.score"}
"""They call scipy from most of their functions, and only a campaign imports them."""


def test_no_public_module_imports_scipy_before_it_computes() -> None:
    folder = Path(agentmut.stats.__file__).parent
    modules = [f"agentmut.stats.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"]
    names = ", ".join(sorted(set(modules) - SLOW))
    code = f"import sys, {names}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
