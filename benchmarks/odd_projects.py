"""How 3,000 odd projects end: `python benchmarks/odd_projects.py [NUMBER]` prints how often each exit code was met.

Ends with 1 where a command ended with another code than a documented one, or without one JSON document.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.cli.odd_projects import ODD_PROJECTS, OddProject, check  # noqa: E402

NUMBER = 3_000


def main(number: int) -> int:
    """Check so many projects; print the exit codes."""
    met: Counter[int] = Counter()

    @given(ODD_PROJECTS)
    @settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def look(project: OddProject) -> None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            met[check(project, Path(folder))] += 1

    try:
        look()
    except AssertionError as error:
        print(error)
        return 1
    finally:
        print(", ".join(f"exit code {code}: {times}" for code, times in sorted(met.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER))
