"""Where a project keeps its files. Apart from the project itself, since a report needs only these names."""

from pathlib import Path

from agentmut._base import PRIVATE_FOLDER

FILE_NAME = "agentmut.yaml"
FOLDER = PRIVATE_FOLDER
"""Beside the project file: the store, the runs' results, baselines and tables."""


def runs_folder(root: Path) -> Path:
    """Return the folder for results and recordings of this folder's project."""
    return root / FOLDER / "runs"
