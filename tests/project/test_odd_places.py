"""Files and folders of a project with odd names, or in the place of others."""

from pathlib import Path

import pytest

from agentmut._base import Frozen, StoreError, locked, write_json
from agentmut.project.scenarios import find_scenario_files


@pytest.mark.parametrize("name", ["[x].yaml", "a b.yaml", "-s.yaml", "日本.yaml", "new\nline.yaml"])
def test_a_scenario_file_is_found_by_its_own_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[]")
    assert find_scenario_files(name, tmp_path) == (name,)


def test_what_stands_in_the_place_of_the_projects_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / ".agentmut"
    folder.write_text("a file")
    with pytest.raises(StoreError, match=r"is no folder\. Move it away"), locked(folder):
        pass
    folder.unlink()
    folder.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="is a link to a place that is not there"), locked(folder):
        pass


def test_what_cannot_be_written_is_no_lack_of_room(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as error:
        write_json(Frozen(), tmp_path / "file" / "result.json", "`agentmut run`")
    assert "[Errno" not in str(error.value)
    assert "let this user write there, then `agentmut run`" in str(error.value)
