"""The GitHub Action and the GitLab snippet: what they name exists, and their steps do what they say."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from agentmut.cli import VERBS

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "actions" / "agentmut"
WARM = ROOT / "tests" / "testdata" / "warm_cli.py"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
PAGE = (ROOT / "docs" / "ci.md").read_text()
GITLAB = next(b for b in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "script:" in b)
PROJECT = """
version: 1
agent:
  adapter: openai
  config:
    prompt: |
      You are the desk of a museum.
      - End every answer with "Take care!"
      - Answer politely.
    model: {name: sim-large}
suite: {threshold: 0.5}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 20, n_max: 20, delta: 0.4, rounds: one}
gate: {min_score: 0}
"""
SCENARIOS = """
- name: opening
  input: "When do you open?"
  evaluators: [{contains: "Take care!"}]
"""


def test_every_input_is_used_and_every_used_one_exists() -> None:
    text = (FOLDER / "action.yml").read_text()
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    assert ACTION["runs"]["using"] == "composite"
    assert all("shell" in step for step in STEPS.values() if "run" in step)
    for output in ACTION["outputs"].values():
        assert re.fullmatch(r"\$\{\{ steps\.run\.outputs\.[\w-]+ \}\}", output["value"])


def test_inputs_reach_the_shell_by_variables_only() -> None:
    """An expression in a script would be run as a part of it, whatever a branch is called."""
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")
    script = (FOLDER / "measure.sh").read_text()
    assert STEPS["Measure and decide"]["env"]
    for name in STEPS["Measure and decide"]["env"]:
        assert f"${name}" in script


@pytest.mark.parametrize(("named", "folder"), [("desk", "desk"), ("desk/agentmut.yaml", "desk"), (".", ".")])
def test_what_is_kept_lies_beside_the_project_file(tmp_path: Path, named: str, folder: str) -> None:
    if not shutil.which("bash"):
        pytest.skip("the action's steps need bash")
    (tmp_path / "desk").mkdir()
    subprocess.run(
        ["bash", "-eo", "pipefail", "-c", STEPS["Find the project's folder"]["run"]],
        cwd=tmp_path,
        env={**os.environ, "PROJECT": named, "GITHUB_OUTPUT": str(tmp_path / "output")},
        check=True,
    )
    assert (tmp_path / "output").read_text() == f"folder={folder}\n"
    assert STEPS["Keep what has been run"]["with"]["path"] == "${{ steps.project.outputs.folder }}/.agentmut"


def test_the_gitlab_job_names_verbs_that_exist() -> None:
    job = yaml.safe_load(GITLAB)["agentmut"]
    said = "\n".join([*job["script"], *job.get("after_script", [])])
    verbs = re.findall(r"^agentmut (\w+)", said, re.MULTILINE)
    assert verbs
    assert set(verbs) <= set(VERBS)
    assert job["allow_failure"] == {"exit_codes": [3]}


def test_the_action_shown_in_the_page_is_given_inputs_that_it_has() -> None:
    shown = next(b for b in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "uses: " in b)
    steps = yaml.safe_load(shown)["jobs"]["agentmut"]["steps"]
    (own,) = [step for step in steps if step["uses"].endswith("actions/agentmut")]
    assert set(own["with"]) <= set(ACTION["inputs"])
    # a path within the user's repository, where the page has it copied to
    assert ROOT / own["uses"] == FOLDER


class Job:
    """A job on a runner: the project, and the files that a step writes to."""

    def __init__(self, folder: Path, service: str) -> None:
        self.folder = folder
        self.output, self.summary = folder / "output", folder / "summary"
        (folder / "bin").mkdir()
        shim = folder / "bin" / "agentmut"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{WARM}" "$@"\n')
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
        (folder / "bin" / "python").symlink_to(sys.executable)
        copied = folder / ".github" / "actions" / "agentmut"
        shutil.copytree(FOLDER, copied)  # all that a repository needs of agentmut's
        shutil.copytree(FOLDER, folder / "agentmut-ci")
        self.environment = {
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "OPENAI_BASE_URL": service,
            "OPENAI_API_KEY": "none",
            "GITHUB_ACTION_PATH": str(copied),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }

    def step(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """The step that measures, with its variables filled as a runner fills them."""
        step = STEPS["Measure and decide"]
        given = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | inputs
        filled = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)
            for name, value in step["env"].items()
        }
        self.output.write_text("")
        self.summary.write_text("")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**self.environment, **filled},
            capture_output=True,
            text=True,
            timeout=600,
            stdin=subprocess.DEVNULL,
        )

    def shell(self, lines: list[str]) -> subprocess.CompletedProcess[str]:
        """The lines of a script as GitLab's runner joins them; pip's alone is noted and not run."""
        pip = self.folder / "bin" / "pip"
        pip.write_text(f'#!/bin/sh\necho "$@" >> "{self.folder}/installed"\n')
        pip.chmod(pip.stat().st_mode | stat.S_IXUSR)
        return subprocess.run(
            ["bash", "-c", "set -eo pipefail\n" + "\n".join(lines)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            stdin=subprocess.DEVNULL,
        )

    def gate(self, asked: str) -> None:
        """What the project asks for from now on."""
        (self.folder / "agentmut.yaml").write_text(PROJECT.replace("min_score: 0", asked))

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())


@pytest.fixture
def job(tmp_path: Path, simulator_url: str) -> Job:
    if not shutil.which("bash"):
        pytest.skip("the action's steps need bash")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "scenarios" / "s.yaml").write_text(SCENARIOS)
    return Job(tmp_path, simulator_url)


def test_the_step_measures_decides_and_writes_outputs_and_summary(job: Job) -> None:
    done = job.step()
    assert done.returncode == 0, done.stderr + done.stdout
    outputs = job.outputs
    first = Path(outputs.pop("comment")).read_text()
    assert outputs == {"decision": "deploy", "score": "0.3333", "exit-code": "0"}  # one instruction of three
    assert first.startswith("## agentmut: mutation score 0.33")  # there is no run to compare with
    summary = job.summary.read_text()
    assert summary.startswith("## agentmut: mutation score 0.33")
    assert "Decision: deploy" in summary
    assert "Mutation score" in done.stdout

    job.gate("min_score: 0.9")  # above the upper bound
    assert job.step(arguments="--class\nprompt\n").returncode == 1
    assert job.outputs["decision"] == "block"
    second = Path(job.outputs["comment"]).read_text()
    assert second.startswith("## agentmut: from run ")
    assert "mutation score" in second.lower()
    job.gate("min_score: 0.5")  # between the bounds
    done = job.step(**{"fail-on-manual": "false"})
    assert done.returncode == 0
    assert "::warning title=agentmut::" in done.stdout
    assert (job.outputs["decision"], job.outputs["exit-code"]) == ("manual", "3")


def test_a_wrong_command_line_fails_the_step_with_its_message(job: Job) -> None:
    done = job.step(arguments="--class\npormpt")
    assert done.returncode == 2
    assert "pormpt" in done.stderr
    outputs = job.outputs
    comment = Path(outputs.pop("comment")).read_text()
    assert outputs == {"decision": "", "score": "", "exit-code": "2"}
    head = "## agentmut: no result\n\nExit code 2: the command or the project file is wrong.\n\n    "
    assert comment.startswith(head)
    assert "pormpt" in comment
    assert job.summary.read_text() == comment


@pytest.mark.parametrize("printed", ['{"error": "no trial\\ngave evidence", "exit_code": 4}', "", "[]", "{}"])
def test_a_run_that_failed_is_told_to_the_pull_request(tmp_path: Path, printed: str) -> None:
    (tmp_path / "found").write_text(printed)
    script = [sys.executable, str(FOLDER / "failure_text.py"), str(tmp_path / "found"), "4"]
    said = subprocess.run(script, capture_output=True, text=True, timeout=600, check=True).stdout
    why = (
        "    no trial\n    gave evidence\n"
        if "error" in printed
        else "    The log of the job has the reason.\n"
    )
    assert said == f"## agentmut: no result\n\nExit code 4: the agent or a service failed.\n\n{why}"


@pytest.mark.parametrize("odd", [{"gate": "True"}, {"gate": "yes"}, {"fail-on-manual": "True"}])
def test_a_misspelt_switch_is_no_switch_that_is_off(job: Job, odd: dict[str, str]) -> None:
    done = job.step(**odd)
    assert done.returncode == 2
    assert "is true or false, got" in done.stderr


def test_the_log_gives_the_runner_no_commands_but_the_steps_own(job: Job) -> None:
    """`::error::` and the like at the beginning of a line are commands, and a prompt is printed as it is."""
    job.gate("min_score: 0.5")
    text = (job.folder / "agentmut.yaml").read_text()
    evil = text.replace("Answer politely.", "Answer politely.\n\n      ::error::pwned")
    (job.folder / "agentmut.yaml").write_text(evil)
    done = job.step(**{"fail-on-manual": "false"})
    lines = done.stdout.splitlines()
    word = lines[0].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", word)
    said = lines[lines.index(f"::{word}::") + 1 :]
    assert all(line.startswith("::warning title=agentmut::") for line in said)
    assert lines.count(f"::{word}::") == 1


def test_the_gitlab_job_measures_and_leaves_what_it_names_as_artifacts_and_cache(job: Job) -> None:
    """A manual decision, which the job allows: between the bounds of the score."""
    job.gate("min_score: 0.5")
    told = yaml.safe_load(GITLAB)["agentmut"]
    done = job.shell(told["script"])
    assert done.returncode in told["allow_failure"]["exit_codes"], done.stderr + done.stdout
    assert "Decision: manual" in done.stdout
    assert (job.folder / "installed").read_text().split() == ["install", "--quiet", "agentmut"]
    after = job.shell(told["after_script"])
    assert after.returncode == 0, after.stderr
    artifacts = told["artifacts"]
    report = ElementTree.parse(job.folder / artifacts["reports"]["junit"]).getroot()
    assert len(report.findall(".//testcase")) == 3  # one for each instruction
    (page,) = artifacts["paths"]
    assert (job.folder / page).read_text().startswith("<!DOCTYPE html>")
    assert all((job.folder / kept).is_dir() for kept in told["cache"]["paths"])


MARK = "<!-- agentmut -->"


class Service:
    """`gh` and `curl` that write down what they are asked; `found` is what they print for a list of comments."""

    def __init__(self, folder: Path, found: str) -> None:
        self.folder, self.asked = folder, folder / "asked"
        (folder / "bin").mkdir()
        (folder / "found").write_text(found)
        for name in ("gh", "curl"):
            shim = folder / "bin" / name
            shim.write_text(
                f'#!/bin/bash\nprintf "%s " {name} "$@" >> "{self.asked}"; echo >> "{self.asked}"\n'
                f'for a in "$@"; do case "$a" in body@*|body=@*) cp "${{a#*@}}" "{folder}/body";; esac; done\n'
                f'case "$*" in *POST*|*PUT*|*PATCH*) ;; *) cat "{folder}/found";; esac\n'
            )
            shim.chmod(0o755)
        (folder / "bin" / "python").symlink_to(sys.executable)
        (folder / "text").write_text("## agentmut: mutation score 0.33\n")

    def comments(self, **environment: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", str(FOLDER / "comment.sh"), str(self.folder / "text")],
            env={"PATH": path, **environment},
            capture_output=True,
            text=True,
            check=True,
        )


ON_GITHUB = {"GITHUB_REPOSITORY": "us/desk", "PULL_REQUEST": "7", "GH_TOKEN": "secret"}
ON_GITLAB = {
    "CI_API_V4_URL": "https://git.example/api/v4",
    "CI_PROJECT_ID": "5",
    "CI_MERGE_REQUEST_IID": "9",
    "AGENTMUT_TOKEN": "secret",
}


@pytest.mark.parametrize(
    ("environment", "found", "sent"),
    [
        (ON_GITHUB, "", "-X POST repos/us/desk/issues/7/comments"),
        (ON_GITHUB, "31\n32\n", "-X PATCH repos/us/desk/issues/comments/31"),
        (ON_GITLAB, "[]", "-X POST https://git.example/api/v4/projects/5/merge_requests/9/notes "),
        (
            ON_GITLAB,
            f'[{{"id": 1, "body": "x"}}, {{"id": 4, "body": "{MARK} old"}}]',
            "-X PUT https://git.example/api/v4/projects/5/merge_requests/9/notes/4",
        ),
    ],
)
def test_a_pull_request_has_one_comment_which_is_renewed(
    tmp_path: Path, environment: dict[str, str], found: str, sent: str
) -> None:
    service = Service(tmp_path, found)
    service.comments(**environment)
    asked = service.asked.read_text()
    assert sent in asked.splitlines()[-1]
    assert "secret" not in asked  # others on the machine may list the arguments of a process
    assert (tmp_path / "body").read_text() == f"{MARK}\n## agentmut: mutation score 0.33\n"


@pytest.mark.parametrize(
    ("earlier", "compared"),
    [
        ({"20260101-1": "finished", "20260102-1": "failed", "20260103-1": "budget"}, "--compare 20260101-1 "),
        ({"20260102-1": "failed"}, ""),
        ({}, ""),
    ],
)
def test_a_comment_compares_with_the_latest_run_that_was_finished(
    tmp_path: Path, earlier: dict[str, str], compared: str
) -> None:
    for run, status in {**earlier, "20260104-1": "finished", "20260105-1": "finished"}.items():
        folder = tmp_path / ".agentmut" / "runs" / run
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(json.dumps({"status": status}))
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "agentmut"
    shim.write_text('#!/bin/sh\necho "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    done = subprocess.run(
        ["bash", str(FOLDER / "comment_text.sh"), ".", "20260104-1"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout == f"report 20260104-1 --project . {compared}--format markdown\n"


def test_a_dry_run_prints_the_request_and_sends_none(tmp_path: Path) -> None:
    service = Service(tmp_path, "")
    said = service.comments(**ON_GITHUB, DRY_RUN="true").stdout
    assert said.startswith("gh api --silent -X POST repos/us/desk/issues/7/comments -F body=@")
    assert "POST" not in service.asked.read_text()


def test_without_a_pull_request_or_a_right_to_comment_nothing_fails(tmp_path: Path) -> None:
    service = Service(tmp_path, "")
    assert "no comment is written" in service.comments().stderr
    (tmp_path / "bin" / "gh").write_text("#!/bin/bash\nexit 1\n")
    assert service.comments(**ON_GITHUB).stdout.startswith("::warning title=agentmut::The comment could not")
