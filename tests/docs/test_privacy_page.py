"""What docs/privacy.md says is so: what secrets cover, which verbs stop without texts, and what is in `.agentmut`."""

import re
from pathlib import Path

import pytest
import yaml

from agentmut.project.loading import load_project
from agentmut.project.redacting import redactor
from agentmut.usecases.campaigns import measure
from agentmut.usecases.starting import write_starter
from tests.docs.shown_blocks import blocks
from tests.warm_command import ROOT, run_agentmut

PAGE = (ROOT / "docs" / "privacy.md").read_text()
SECRETS, TEXTS, SIZES = (yaml.safe_load(block) for block in blocks(PAGE, "yaml"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_starter(tmp_path)
    file = tmp_path / "agentmut.yaml"
    settings = {**yaml.safe_load(file.read_text()), **SECRETS, "store": TEXTS["store"] | SIZES["store"]}
    file.write_text(yaml.safe_dump(settings))
    return tmp_path


def test_a_declared_name_covers_what_the_page_says_and_no_sentence(project: Path) -> None:
    clean = redactor(load_project(project)).text
    for covered in re.findall(r"A name covers `([^`]+)` and `([^`]+)`", PAGE)[0]:
        assert "71" not in clean(covered)
    (sentence,) = re.findall(r'a sentence such as "([^"]+)"', PAGE)
    assert clean(sentence) == sentence


def test_a_declared_pattern_covers_what_it_fits(project: Path) -> None:
    assert "123456" not in redactor(load_project(project)).text("your code is AC-123456, she said")


def test_verbs_that_read_words_stop_and_say_so(project: Path, warm: None) -> None:
    measure(project)
    (named,) = re.findall(r"stop with exit code 2 and say so: (.*?)\.", PAGE)
    verbs = re.findall(r"`(\w+)`", named)
    assert verbs
    for verb in verbs:
        ended = run_agentmut(project, verb)
        assert (ended.returncode, "store.texts: hashed" in ended.stderr) == (2, True), verb


def test_the_folder_is_private_and_git_leaves_it_out(project: Path) -> None:
    measure(project)
    made = [project / ".agentmut", *(project / ".agentmut").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}
    ignored = (project / ".agentmut" / ".gitignore").read_text().split("\n")
    assert {"*", "!baselines/"} <= set(ignored)
