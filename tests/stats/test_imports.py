"""What importing the statistics costs."""

import subprocess
import sys
from pathlib import Path

import pytest

import agentmut.stats

pytestmark = pytest.mark.process


def test_no_public_module_imports_scipy_before_it_computes() -> None:
    folder = Path(agentmut.stats.__file__).parent
    files = [*folder.glob("*.py"), *(folder / "kill").glob("*.py")]
    parts = [path.relative_to(folder).with_suffix("").parts for path in files if path.stem != "__init__"]
    names = [".".join(("agentmut.stats", *part)) for part in parts]
    code = f"import sys, {', '.join(sorted(names))}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=600).returncode == 0


@pytest.mark.parametrize(
    "module", ["agentmut.usecases.campaigns", "agentmut.usecases.suite_verdicts", "agentmut.cli"]
)
def test_no_way_in_imports_scipy_before_it_computes(module: str) -> None:
    code = f"import sys, {module}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=600).returncode == 0
