"""A saved request that is older than the agent: each verb says so, with the command that saves it anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import main

AGENT = """
from pathlib import Path

import httpx

PROMPT = Path(__file__).with_name("prompt.md")


def run(input):
    messages = [{{"role": "system", "content": PROMPT.read_text()}}, {{"role": "user", "content": input}}]
    body = {{"model": "m", "messages": messages}}
    return httpx.post({url!r} + "/chat/completions", json=body).json()["choices"][0]["message"]["content"]
"""
PROMPT = "Be kind.\nNever promise a delivery date.\nAlways ask for the order number.\n"
OTHER = PROMPT.replace("Always ask for the order number.", "Refund at most 50 euros.")
LONGER = f"{PROMPT}Refund at most 50 euros.\n"
Call = Callable[..., tuple[str, str]]


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: Any, capfd: pytest.CaptureFixture[str]
) -> Call:
    """Call a verb in a project whose request is saved; return stdout and stderr, with single blanks."""
    service.answer = lambda request: "Hello." if "Never promise" in request.system_text else "No."
    module = f"outdated_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(AGENT.format(url=service.url))
    (tmp_path / "prompt.md").write_text(PROMPT)
    scenario = {"name": "one", "input": "My refund, please.", "evaluators": [{"contains": "Hello"}]}
    (tmp_path / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
    project = {
        "version": 1,
        "agent": {"adapter": "python", "run": f"{module}:run", "config": {"request": "agent.json"}},
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "statistics": {"rounds": "one", "baseline": 10, "delta": 0.5},
    }
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(project))
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[str, str]:
        with pytest.raises(SystemExit):
            main(list(words))
        found = capfd.readouterr()
        return " ".join(found.out.split()), " ".join(found.err.split())

    call("doctor", "--save-request", "agent.json", "--yes")
    return call


OLD_FILE = (
    "prompt.md has changed since agent.json was saved, so mutants are made of the earlier texts: `agentmut doctor "
    "--save-request agent.json` saves what the agent sends now"
)


@pytest.mark.whole
@pytest.mark.parametrize("prompt", [OTHER, LONGER])
def test_verbs_say_that_a_file_of_the_prompt_has_changed(prompt: str, desk: Call) -> None:
    """A line that is another one, and a line that is added."""
    assert all("since agent.json" not in text for verb in ("mutants", "plan") for text in desk(verb))
    Path("prompt.md").write_text(prompt)
    assert OLD_FILE in desk("mutants")[0]
    assert OLD_FILE in desk("plan")[0]
    out, err = desk("run", "--yes", "--full")
    assert f"Note: {OLD_FILE}." in err
    if prompt == LONGER:  # without one of its lines, the control finds no prompt to destroy
        assert OLD_FILE in out
    assert "does not send what agent.json says" not in out + err  # one sentence is enough
    desk("doctor", "--save-request", "agent.json", "--yes")
    assert "since agent.json" not in desk("mutants")[0]
    assert "agent.json" not in desk("run", "--yes")[1]


@pytest.mark.whole
@pytest.mark.parametrize(
    ("prompt", "what"),
    [
        (
            OTHER,
            '1 of 3 lines of the declared prompt are in no request; the first: "Always ask for the order',
        ),
        (LONGER, '1 line of the system prompt not in it; the first: "Refund at most 50 euros."'),
    ],
)
def test_a_run_compares_the_saved_request_with_the_first_requests(prompt: str, what: str, desk: Call) -> None:
    """So it also says it of a request that another version of agentmut saved, or somebody recorded."""
    saved = json.loads(Path("agent.json").read_text())
    del saved["sources"]
    Path("agent.json").write_text(json.dumps(saved))
    assert "does not send" not in "".join(desk("run", "--yes"))
    Path("prompt.md").write_text(prompt)
    for verb in (("run", "--yes", "--fresh", "--full"), ("doctor", "--yes")):
        said = " ".join(desk(*verb))
        assert f"he agent does not send what agent.json says ({what}" in said, verb
        assert "`agentmut doctor --save-request agent.json` saves what it sends now" in said, verb


def test_a_request_that_is_saved_anew_is_compared_as_it_was_saved(desk: Call) -> None:
    Path("prompt.md").write_text(OTHER)
    out, err = desk("doctor", "--save-request", "agent.json", "--yes")
    assert "are in no request" not in out + err
    assert "prompt" in out
    assert "Refund at most 50 euros." in Path("agent.json").read_text()


def test_the_command_names_the_project_that_is_elsewhere(desk: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path.cwd()
    (folder / "prompt.md").write_text(OTHER)
    monkeypatch.chdir(folder.parent)
    said = desk("mutants", "--project", folder.name)[0]
    command = f"agentmut doctor --save-request {folder.name}/agent.json --project {folder.name}"
    assert f"`{command}`" in said.replace("- ", "-")


@pytest.mark.whole
def test_doctor_says_that_the_other_route_is_not_needed(desk: Call) -> None:
    """A new user took the reasons of the other route for work that is to be done."""
    out = desk("doctor", "--yes")[0]
    assert (
        "Nothing is to be done: each change arrives by wire, and one way is enough. The other way, rebuild"
        in out
    )
    assert "rebuild: agentmut builds the agent from a changed config. wire: agentmut changes the model" in out
    assert "prompt by rebuild" not in out


def test_a_request_that_was_not_seen_says_how_the_run_ended(desk: Call) -> None:
    """Such as a function that takes one question, and is given the turns of a conversation as a list."""
    Path("scenarios.yaml").write_text("- {name: two, turns: [Hi, Bye], evaluators: [{contains: Hello}]}\n")
    (module,) = Path().glob("outdated_*.py")
    code = module.read_text().replace("    messages = [", "    input = input.strip()\n    messages = [")
    Path(f"strict_{module.name}").write_text(code)
    project = Path("agentmut.yaml").read_text().replace(f"{module.stem}:run", f"strict_{module.stem}:run")
    Path("agentmut.yaml").write_text(project)
    said = desk("doctor", "--save-request", "again.json", "--yes")[1]
    assert "no model request was seen, so there is none to keep. The agent's run ended so: " in said
    assert "'list' object has no attribute 'strip'" in said


def test_a_function_that_takes_the_question_for_a_list_of_turns_is_told(desk: Call) -> None:
    """A new user wrote `def chat(turns)` with a loop, and each letter became a turn."""
    (module,) = Path().glob("outdated_*.py")
    said = "def run(turns):\n    return [answer(turn) for turn in turns][-1]\n\n\ndef answer(input):"
    Path(f"looped_{module.name}").write_text(module.read_text().replace("def run(input):", said))
    project = Path("agentmut.yaml").read_text().replace(f"{module.stem}:run", f"looped_{module.stem}:run")
    Path("agentmut.yaml").write_text(project)
    warning = "The agent asks its model only for the first letter of the question, 'M':"
    assert warning in desk("doctor", "--yes")[0]
    Path("scenarios.yaml").write_text(
        "- {name: one, turns: [Hello there], evaluators: [{contains: Hello}]}\n"
    )
    code = Path(f"looped_{module.name}").read_text().replace("run(turns)", "run(turns: list[str])")
    Path(f"noted_{module.name}").write_text(code)
    Path("agentmut.yaml").write_text(project.replace("looped_", "noted_"))
    assert "first letter" not in desk("doctor", "--yes")[0]


def test_a_comparison_by_stored_runs_says_that_the_agents_file_has_changed(desk: Call) -> None:
    """The file is no code, so a new user lost a rule of it, and the stored runs of the baseline passed."""
    desk("baseline", "save", "--trials", "10", "--yes")
    same = "nothing that shapes a trial has changed since the baseline"
    assert same in desk("baseline", "compare", "--yes")[0]
    Path("prompt.md").write_text(OTHER)
    said = desk("baseline", "compare", "--yes")[0]
    assert same not in said
    assert (
        "prompt.md has changed since agent.json was saved" in said
        and "so a worse agent may pass here" in said
    )


def test_a_test_by_stored_runs_says_that_the_agents_file_has_changed(desk: Call) -> None:
    """The agent of the other prompt says "No.", and stored runs would let it pass without a word."""
    older = "Stored trials may be older than this change, so a worse agent may pass here"
    assert older not in desk("test", "--yes")[0]
    Path("prompt.md").write_text(
        PROMPT.replace("Never promise a delivery date.", "Promise what they want to hear.")
    )
    said = desk("test", "--yes")[0]
    assert "PASS" in said and f"{OLD_FILE}. {older}" in said
    fresh = desk("test", "--yes", "--fresh")[0]
    assert "FAIL" in fresh and older not in fresh
