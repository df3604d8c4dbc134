"""What a project without texts says of its runs, and what becomes of these once texts are kept."""

from pathlib import Path

import pytest

from agentmut.cli import main
from tests.cli.ran_project import ran


def told(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([*words, "--project", str(folder)])
    output = capsys.readouterr()
    return int(str(left.value.code or 0)), " ".join((output.out + output.err).split())


def test_nothing_is_claimed_that_takes_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ran(tmp_path, store={"texts": "none"})
    code, said = told(capsys, folder, "report")
    assert code == 0 and "Its runs were not compared" in said and "No change was found" not in said
    assert "The behaviour of survivors is not compared" in told(capsys, folder, "report", "--full")[1]
    code, said = told(capsys, folder, "suggest", "--apply", "all")
    assert code == 2 and "store.texts: none keeps none" in said and "then `agentmut run`" in said
    code, said = told(capsys, folder, "baseline", "save", "b", "--yes")
    assert code == 0 and "the same answer" not in said

    settings = folder / "agentmut.yaml"
    settings.write_text(settings.read_text().replace("texts: none", "texts: full"))
    for verb in (["suggest"], ["rescore"], ["relations", "--stored"]):
        code, said = told(capsys, folder, *verb)
        assert code == 2 and "stored without texts" in said, said
    assert told(capsys, folder, "run", "--yes")[0] == 0
    code, said = told(capsys, folder, "suggest")
    assert code == 0 and "where: contains: way to kiel" in said


def test_a_run_without_texts_goes_on_when_texts_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ran(tmp_path, store={"texts": "hashed"})
    assert told(capsys, folder, "run", "--yes", "--fresh", "--trials", "40")[0] == 3
    settings = folder / "agentmut.yaml"
    settings.write_text(settings.read_text().replace("texts: hashed", "texts: full"))
    code, said = told(capsys, folder, "resume", "--trials", "10000")
    assert code == 0 and "1 killed, 1 survived" in said and "Its behaviour changed unseen" in said


@pytest.mark.parametrize("texts", ["none", "hashed", "full"])
def test_a_printed_trial_has_the_words_of_the_user_only_where_texts_are_kept(
    texts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ran(tmp_path, store={"texts": texts})
    for form in ((), ("--json",)):
        code, said = told(capsys, folder, "trials", "--trial", "1", *form)
        assert (code, "Where is it?" in said) == (0, texts == "full")
