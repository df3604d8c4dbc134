"""Several projects in one process, whose modules have the same name."""

import sys
from pathlib import Path

import pytest

from agentmut._base.imports import import_object


@pytest.fixture(autouse=True)
def modules_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def test_each_project_has_its_own_module_of_a_name(tmp_path: Path) -> None:
    first = write(tmp_path / "one", "namesake_agent.py", "def run(): return 1")
    second = write(tmp_path / "two", "namesake_agent.py", "def run(): return 2")
    earlier = import_object("namesake_agent:run", first)
    assert import_object("namesake_agent:run", second)() == 2
    assert import_object("namesake_agent:run", first)() == 1
    assert earlier() == 1


def test_a_package_of_another_project_goes_with_all_its_modules(tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / str(number)
        write(folder, "namesake_package/__init__.py", "")
        write(folder, "namesake_package/deep.py", f"VALUE = {number}")
    assert import_object("namesake_package.deep:VALUE", tmp_path / "1") == 1
    assert import_object("namesake_package.deep:VALUE", tmp_path / "2") == 2


def test_a_module_of_the_project_is_imported_once(tmp_path: Path) -> None:
    folder = write(tmp_path, "namesake_once.py", "VALUE = object()")
    assert import_object("namesake_once:VALUE", folder) is import_object("namesake_once:VALUE", folder)


def test_what_is_installed_is_not_forgotten_for_a_file_of_its_name(tmp_path: Path) -> None:
    import yaml

    write(tmp_path, "yaml.py", "VALUE = 1")
    assert import_object("yaml:safe_load", tmp_path) is yaml.safe_load
