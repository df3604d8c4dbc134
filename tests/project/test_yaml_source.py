"""YAML as agentmut reads it: plain data, with lines."""

from pathlib import Path

import pytest

from agentmut._base.errors import ProjectError
from agentmut._base.yaml_source import YamlSource, read_yaml


def read(tmp_path: Path, text: str) -> YamlSource:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    return read_yaml(path, "a.yaml")


def message(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "a.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ProjectError) as error:
        read_yaml(path, "a.yaml")
    return str(error.value)


def test_every_key_and_item_has_its_line(tmp_path: Path) -> None:
    source = read(tmp_path, "a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n")
    lines = [source.line(path) for path in (("a",), ("a", "b"), ("a", "c", 0), ("a", "c", 1, "d"))]
    assert lines == [1, 2, 4, 5]
    assert source.line(("a", "missing")) == 1
    assert source.problem(("a", "c", 1, "d"), "bad") == "a.yaml:5: a.c[1].d: bad"


def test_keys_and_dates_stay_as_they_are_written(tmp_path: Path) -> None:
    source = read(tmp_path, "on: 2024-01-31\n1: 0.5\nnull: yes\n")
    assert source.value == {"on": "2024-01-31", "1": 0.5, "null": True}


def test_anchors_and_merges_work(tmp_path: Path) -> None:
    source = read(tmp_path, "base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\nlist: [*b, *b]\n")
    assert source.value == {
        "base": {"x": 1, "y": 2},
        "own": {"x": 1, "y": 3},
        "list": [{"x": 1, "y": 2}, {"x": 1, "y": 2}],
    }


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(tmp_path / "a.yaml", "a.yaml").value == {"a": 1}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a: [1, 2\nb: 3\n", ["a.yaml:2:", "expected ',' or ']'"]),
        ("a:\n\t- 1\n", ["a.yaml:2:1", "\\t"]),
        ("a: 1\na: 2\n", ["a.yaml:2:1", "key 'a' is given twice", "line 1"]),
        ("x:\n  a: 1\n  b: 2\n  a: 3\n", ["a.yaml:4:3", "key 'a' is given twice", "line 2"]),
        ("", ["a.yaml is empty", "agentmut init"]),
        ("# only a comment\n", ["a.yaml is empty"]),
        ("a: .nan\n", ["a.yaml:1:4", ".nan"]),
        ("a: !!python/object/apply:os.system [true]\n", ["not supported"]),
        ("a: !!binary aGk=\n", ["a.yaml:1:4", "not supported"]),
        ("a: &a [*a]\n", ["may not contain itself"]),
        ("? [1]\n: 2\n", ["a key must be text"]),
        ("a: 1\n---\nb: 2\n", ["a.yaml:2:1", "single document"]),
        ("a: \x07\n", ["a.yaml is not YAML"]),
        ("a: !!int x\n", ["a.yaml:1:4", "cannot be read"]),
        ("a: " + "9" * 5000 + "\n", ["a.yaml:1:4", "cannot be read"]),
        ("a: 0x" + "f" * 5000 + "\n", ["a.yaml:1:4", "thousands of digits"]),
        ("a: 1:" + ":".join(["59"] * 3000) + "\n", ["a.yaml:1:4", "thousands of digits"]),
        ("a: " + "[" * 5000 + "]" * 5000 + "\n", ["nested too deeply"]),
        (b"a: \xff\xfe\n", ["not UTF-8", "byte 3", "0xff", "Save it in UTF-8"]),
    ],
)
def test_what_cannot_be_read_is_shown_with_its_place(
    tmp_path: Path, text: str | bytes, pieces: list[str]
) -> None:
    said = message(tmp_path, text)
    assert [piece for piece in pieces if piece not in said] == [], said


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot be read"):
        read_yaml(tmp_path, "a.yaml")


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    nested = (f"x{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
    path = tmp_path / "bomb.yaml"
    path.write_text("x0: &a0 [x]\n" + "".join(nested))
    with pytest.raises(ProjectError, match="aliases stand for more than 100000 values"):
        read_yaml(path, "bomb.yaml")


def test_a_file_that_would_take_a_minute_is_refused(tmp_path: Path) -> None:
    said = message(tmp_path, "#" + "x" * 2**23)
    assert "8 million characters" in said and "Divide it" in said
