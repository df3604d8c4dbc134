"""The example of a framework is what `agentmut init --framework` writes."""

from pathlib import Path

import pytest

from agentmut.project.editor_schemas import schema_line
from agentmut.usecases.starting import frameworks, write_starter

EXAMPLES = Path(__file__).parents[2] / "examples"
WITH_EXAMPLE = [name for name in frameworks() if (EXAMPLES / name).is_dir()]


def files_of(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in found
        if not {"__pycache__", ".agentmut", ".gitignore"} & set(path.parts)
    }


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_the_starter_of_a_framework_is_its_example(name: str, tmp_path: Path) -> None:
    write_starter(tmp_path, framework=name)
    written = {path: text.removeprefix(schema_line(path)) for path, text in files_of(tmp_path).items()}
    assert written == files_of(EXAMPLES / name)
