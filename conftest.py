"""Which files pytest looks into, and which modules it may skip because they cannot be imported."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

OURS = frozenset({"agentmut", "tests", "benchmarks", "examples"})
"""Packages of this repository: a module that cannot import one of them is broken, and not short of an extra."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules without an example in a docstring: to import and search all of them takes seconds in each worker."""
    if collection_path.suffix != ".py" or collection_path.name.startswith("test_"):
        return None
    return True if ">>> " not in collection_path.read_text("utf-8") else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Search no test module for examples: pytest would import it twice, and the second import hides an error."""
    found = yield
    is_test = file_path.name.startswith("test_")
    return [one for one in found if not (is_test and isinstance(one, DoctestModule))]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module with examples whose extra is not installed; any other error of its import stays an error."""
    report = yield
    call: pytest.CallInfo[object] | None = getattr(report, "call", None)
    cause = call.excinfo.value.__cause__ if call and call.excinfo else None  # pytest raises an error from it
    if isinstance(collector, DoctestModule) and isinstance(cause, ImportError) and _is_foreign(cause):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {cause}")
    return report


def _is_foreign(error: ImportError) -> bool:
    return bool(error.name) and str(error.name).partition(".")[0] not in OURS
