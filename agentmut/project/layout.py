"""Where a project's files are: for those who look for results and need not read the project."""

from pathlib import Path

FILE_NAME = "agentmut.yaml"
FOLDER = ".agentmut"
"""Beside the project file: the store, the runs' results, baselines and tables."""


def runs_folder(root: Path) -> Path:
    """Where the results and recordings of the runs of the project in this folder are."""
    return root / FOLDER / "runs"
