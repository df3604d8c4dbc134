"""What importing the statistics costs."""

import subprocess
import sys
from pathlib import Path

import pytest

import agentmut.stats

WAYS_IN = ("agentmut.usecases.campaigns", "agentmut.usecases.suite_verdicts", "agentmut.cli")
CODE = """
import importlib, sys

for name in sys.argv[1:]:
    importlib.import_module(name)
    if "scipy" in sys.modules:
        sys.exit(f"{name} imports scipy before it computes")
"""


@pytest.mark.process
def test_no_public_module_and_no_way_in_imports_scipy_before_it_computes() -> None:
    folder = Path(agentmut.stats.__file__).parent
    files = [*folder.glob("*.py"), *(folder / "kill").glob("*.py")]
    parts = [path.relative_to(folder).with_suffix("").parts for path in files if path.stem != "__init__"]
    names = sorted(".".join(("agentmut.stats", *part)) for part in parts)
    command = [sys.executable, "-c", CODE, *names, *WAYS_IN]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
