"""Which files pytest looks into."""

from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules without an example in a docstring: to import and search all of them takes seconds in each worker."""
    if collection_path.suffix != ".py" or collection_path.name.startswith("test_"):
        return None
    return True if ">>> " not in collection_path.read_text("utf-8") else None
