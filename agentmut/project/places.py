"""Where a project keeps its files. Apart from the project itself, since a report needs only these names."""

from pathlib import Path

from agentmut._base import PRIVATE_FOLDER, ProjectError

FILE_NAME = "agentmut.yaml"
FOLDER = PRIVATE_FOLDER
"""Beside the project file: the store, the runs' results, baselines and tables."""


def runs_folder(root: Path) -> Path:
    """Return the folder for results and recordings of this folder's project."""
    return root / FOLDER / "runs"


def project_path(path: Path, option: str = " with --project") -> Path:
    """Return the project file, or the one in a directory. Raises `ProjectError` where there is none.

    `option` says how a command names another project; empty where projects are its arguments.
    """
    path = path.resolve()
    if path.is_dir():
        path = path / FILE_NAME
        if not path.is_file():
            raise ProjectError(
                f"there is no {FILE_NAME} in {path.parent}. Run `agentmut init` there to get one, "
                f"or name another{option}."
            )
    if not path.is_file():
        other = f"Name an {FILE_NAME}, or a folder that has one{',' * bool(option)}{option}"
        raise ProjectError(f"there is no file or folder {path}. {other}.")
    return path
