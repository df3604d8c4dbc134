"""The help of the command line is in words, and finds its way from a typing mistake to a verb."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from agentmut.cli.entry import GROUPS, app, main
from agentmut.cli.reference import verbs

NAMES = [verb.words for verb in verbs()]


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_types_and_limits_are_words(words: tuple[str, ...]) -> None:
    for flag in ("-h", "--help"):
        done = CliRunner().invoke(app, [*words, flag])
        assert done.exit_code == 0
        assert not re.search(r"<[a-z]|list\[|\[x|x[<>]=", done.stdout), done.stdout


def test_limits_stand_behind_the_help() -> None:
    text = " ".join(CliRunner().invoke(app, ["run", "-h"]).stdout.split())
    assert (
        "--usd NUMBER Spend at most this many US dollars, whatever the project file says. [at least 0.01]"
        in text
    )
    assert "--scenario TEXT Only this scenario, by name. [repeatable]" in text
    compare = " ".join(CliRunner().invoke(app, ["baseline", "compare", "-h"]).stdout.split())
    assert "[1 to 10000]" in compare
    assert "--method sequential|fixed" in compare


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_the_agent_of_a_papers_format_is_the_last_option(words: tuple[str, ...]) -> None:
    flags = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", CliRunner().invoke(app, [*words, "-h"]).stdout, re.M)
    assert "--agent" not in flags or flags[-2:] == ["--agent", "--help"]


def test_verbs_stand_in_groups() -> None:
    text = CliRunner().invoke(app, ["-h"]).stdout
    places = [text.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert "\n  --help" not in text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rum", "Did you mean run"),
        ("baselin", "Did you mean baseline?"),
        ("xyzzy", "no verb 'xyzzy'."),
        (
            "survivors",
            "no verb 'survivors'. `agentmut report` lists the survivors, `agentmut show ID` explains one,",
        ),
        (
            "compare",
            "no verb 'compare'. Did you mean `agentmut baseline compare`, or `agentmut report --compare RUN`?",
        ),
    ],
)
def test_a_verb_that_is_mistyped_is_answered_with_those_like_it(typed: str, meant: str) -> None:
    done = CliRunner().invoke(app, [typed])
    assert done.exit_code == 2 and meant in done.output


@pytest.mark.process
def test_the_package_can_be_run() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentmut", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"agentmut \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize(
    ("option", "value", "needed"),
    [
        ("--usd", "x", "Give a number, at least 0.01."),
        ("--trials", "1.5", "Give a whole number, at least 1."),
        ("--precision", "0.9", "Give a number, 0.01 to 0.49."),
    ],
)
def test_a_wrong_number_is_refused_in_words(
    option: str, value: str, needed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", option, value])
    assert ended.value.code == 2
    assert f"Invalid value for '{option}': {needed}" in capsys.readouterr().err
