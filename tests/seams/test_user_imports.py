"""`module:object` references to the user's own code."""

import sys
from pathlib import Path

import pytest

from agentmut._base.errors import ExitCode, UsageError
from agentmut._base.imports import check_reference, import_callable, import_object


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def message(reference: str, root: Path) -> str:
    with pytest.raises(UsageError) as error:
        import_object(reference, root)
    assert error.value.exit_code is ExitCode.USAGE
    return str(error.value)


def test_an_object_is_found_in_the_projects_directory(root: Path) -> None:
    (root / "imports_found.py").write_text("class A:\n    b = 7\n")
    assert import_object("imports_found:A.b", root) == 7
    import_object("imports_found:A", root)
    assert sys.path.count(str(root)) == 1


def test_a_missing_module_suggests_its_neighbour(root: Path) -> None:
    (root / "support_desk.py").write_text("")
    said = message("suport_desk:run", root)
    for piece in ("cannot import suport_desk:run", "no module 'suport_desk'", str(root), "'support_desk'"):
        assert piece in said


def test_a_missing_submodule_is_told_from_a_missing_package(root: Path) -> None:
    (root / "imports_pkg").mkdir()
    (root / "imports_pkg" / "__init__.py").write_text("")
    (root / "imports_pkg" / "agent.py").write_text("")
    said = message("imports_pkg.agnet:run", root)
    assert "no module 'imports_pkg.agnet'" in said
    assert "Did you mean 'agent'?" in said


def test_an_import_error_inside_the_module_is_shown_with_its_place(root: Path) -> None:
    (root / "imports_inner.py").write_text("import os\nimport no_such_thing\n")
    said = message("imports_inner:run", root)
    for piece in (
        "importing imports_inner raised ModuleNotFoundError",
        "no_such_thing",
        "imports_inner.py:2",
    ):
        assert piece in said


@pytest.mark.parametrize(
    ("name", "source", "pieces"),
    [
        ("imports_raises", "x = 1\ny = x / 0\n", ["ZeroDivisionError", "imports_raises.py:2"]),
        ("imports_syntax", "a = 1\ndef (:\n", ["SyntaxError", "imports_syntax.py:2"]),
        ("imports_exits", "raise SystemExit(3)\n", ["SystemExit: 3", "imports_exits.py:1"]),
    ],
)
def test_a_module_that_raises_is_shown_with_its_place(
    root: Path, name: str, source: str, pieces: list[str]
) -> None:
    (root / f"{name}.py").write_text(source)
    said = message(f"{name}:run", root)
    assert [piece for piece in pieces if piece not in said] == []


def test_a_client_that_needs_its_key_while_it_is_imported_is_told_from_a_broken_module(root: Path) -> None:
    said = "Missing credentials. Please pass an `api_key`, or set the OPENAI_API_KEY environment variable."
    (root / "imports_client.py").write_text(f"raise ValueError({said!r})\n")
    told = message("imports_client:run", root)
    for piece in (
        "set the variable that holds the key",
        "`agentmut simulate -- agentmut run`",
        "takes any value",
    ):
        assert piece in told
    assert "install what it needs" not in told


def test_a_missing_attribute_suggests_the_nearest(root: Path) -> None:
    (root / "imports_attr.py").write_text("def build(): ...\n")
    said = message("imports_attr:biuld", root)
    assert "module imports_attr has no 'biuld'" in said
    assert "imports_attr.py" in said
    assert "Did you mean 'build'?" in said


@pytest.mark.parametrize("reference", ["module", "module:", ":name", "a b:c", "a.b", "../a:b", "a:b:c", ""])
def test_a_reference_has_a_module_and_an_object(reference: str) -> None:
    with pytest.raises(UsageError, match="write module:object"):
        check_reference(reference)


def test_what_cannot_be_called_is_no_function(root: Path) -> None:
    (root / "imports_value.py").write_text("limit = 3\n")
    with pytest.raises(UsageError, match="imports_value:limit is not callable: it is a int"):
        import_callable("imports_value:limit", root)
