"""Programs in containers: the engine's command line, refusals, and clean-up, against a small stand-in for an engine.

The stand-in keeps a file for each container and runs the command in the mounted folder, without any isolation.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.adapters._shared.outside.containers import (
    Container,
    Mount,
    engine_failed,
    folder_digest,
    left_behind,
    node_name,
    options_of,
    run_arguments,
)
from agentmut.adapters.command import CommandAdapter
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.trial.single_run import Case, attempt
from tests.cutting import cut_once

pytestmark = pytest.mark.process

ENGINE = """#!{python} -IS
import json, os, subprocess, sys
state = {state!r}
words = sys.argv[1:]
with open(state + "/log", "a") as log:
    log.write(json.dumps(words) + "\\n")
verb = words[0]
if verb == "info":
    sys.exit(os.path.exists(state + "/away") and (sys.stderr.write("Cannot connect to the daemon\\n") and 1))
if verb == "image":
    sys.exit(0 if os.path.exists(state + "/image-" + words[2].replace(":", "_")) else 1)
if verb in ("build", "pull"):
    if words[-1] == "missing":
        sys.exit("no such image")
    open(state + "/image-" + (words[2] if verb == "build" else words[1]).replace(":", "_"), "w").close()
    sys.exit(0)
if verb == "ps":
    print("\\n".join(name for name in os.listdir(state) if name.startswith("agentmut-")))
    sys.exit(0)
if verb == "rm":
    for name in words[4:]:
        os.path.exists(state + "/" + name) and os.unlink(state + "/" + name)
    sys.exit(0)
assert verb == "run", verb
one, folders, passed, at = {{}}, {{}}, {{"PATH": os.environ["PATH"]}}, 1
while words[at].startswith("-"):
    key = words[at]
    if key in ("--rm", "--init", "-i"):
        at += 1
        continue
    value = words[at + 1]
    at += 2
    if key == "-v":
        source, target = value.split(":")[:2]
        folders[target] = source
    elif key == "-e":
        passed[value] = os.environ[value]
    else:
        one[key] = value
kept = state + "/" + one["--name"]
open(kept, "w").close()
if words[at] == "broken":
    sys.exit(125)
def here(word):
    for target, source in folders.items():
        word = word.replace(target + "/", source + "/")
    return word
done = subprocess.run([one["--entrypoint"], *map(here, words[at + 1 :])], cwd=folders[one["-w"]], env=passed)
os.unlink(kept)
sys.exit(done.returncode)
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for Podman on PATH, alone of all engines; return the folder of its containers and its log."""
    state, programs = tmp_path / "state", tmp_path / "bin"
    state.mkdir()
    programs.mkdir()
    engine = programs / "podman"
    engine.write_text(ENGINE.format(python=sys.executable, state=str(state)))
    engine.chmod(0o755)
    for name in ("sh", "cat", "sleep", "env"):
        (programs / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(programs))
    return state


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "image").mkdir(parents=True)
    (folder / "image" / "Dockerfile").write_text("FROM scratch\n")
    (folder / "AGENTS.md").write_text("Be kind.")
    return folder


def made(project: Path, *command: str, files: bool = False, **container: Any) -> CommandAdapter:
    options: dict[str, Any] = {"container": container or {"image": "img"}}
    document = Document(name="AGENTS.md", text="Be rude.")
    config = AgentConfig(context=(document,), workspace=("AGENTS.md",)) if files else AgentConfig()
    return CommandAdapter.create(
        AgentSpec(adapter="command", command=command, root=str(project), options=options), config
    )


def ran(adapter: CommandAdapter, timeout: float = 600.0) -> Execution:
    judged = (EvaluatorSpec(name="contains", argument="x"),)
    case = Case(Scenario(name="s", turns=("hello",), evaluators=judged), {})
    return asyncio.run(attempt(adapter, case, "trial-1", 0, timeout))


def log(state: Path, verb: str) -> list[list[str]]:
    words = map(json.loads, (state / "log").read_text().splitlines())
    return [one for one in words if one[0] == verb]


def containers(state: Path) -> list[str]:
    return [path.name for path in state.glob("agentmut-*")]


def test_the_command_line_of_one_trial_is_written_out() -> None:
    container = Container("docker", "img:1", 1.5, "512m", "host")
    mounts = (Mount(Path("/tmp/w"), "/work"), Mount(Path("/p"), "/project", read_only=True))
    words = run_arguments(
        container, "agentmut-7-ab", ("agent", "-x", "a b"), mounts, {"B", "A"},
        node="host-1", user="5:6", reads_stdin=True,
    )  # fmt: skip
    assert words == (
        "docker", "run", "--rm", "--init", "--name", "agentmut-7-ab", "--label", "agentmut=host-1",
        "--pull", "never", "--cpus", "1.5", "--memory", "512m", "--network", "host", "-w", "/work",
        "-i", "--user", "5:6", "-v", "/tmp/w:/work", "-v", "/p:/project:ro", "-e", "A", "-e", "B",
        "--entrypoint", "agent", "img:1", "-x", "a b",
    )  # fmt: skip


def test_input_and_answer_pass_through_mounted_files(state: Path, project: Path) -> None:
    adapter = made(project, "sh", "-c", 'cat "$1" > "$2"', "sh", "{input_file}", "{answer_file}")
    done = ran(adapter)
    assert done.ending is Ending.ANSWERED, done.reason
    assert done.trace.output == "hello"
    (words,) = log(state, "run")
    assert words[-2:] == ["/agentmut/input.txt", "/agentmut/answer"]
    assert f"{project.resolve()}:/work:ro" in words


def test_a_coding_agent_sees_the_changed_file_of_its_copy(state: Path, project: Path) -> None:
    done = ran(made(project, "sh", "-c", "cat AGENTS.md; echo new > made.txt", files=True))
    assert done.ending is Ending.ANSWERED, done.reason
    assert done.trace.output == "Be rude."
    assert done.trace.workspace and done.trace.workspace.file("made.txt")
    assert not (project / "made.txt").exists()


def test_only_named_variables_get_in_and_no_value_is_an_argument(
    state: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_IN", "secret-1")
    monkeypatch.setenv("KEY_OUT", "secret-2")
    done = ran(made(project, "env", image="img", env=["KEY_IN"]))
    assert "KEY_IN=secret-1" in str(done.trace.output)
    assert "AGENTMUT_TRIAL=trial-1" in str(done.trace.output)
    assert "KEY_OUT" not in str(done.trace.output)
    assert "secret" not in (state / "log").read_text()


def test_an_image_is_built_once_and_again_after_a_change(state: Path, project: Path) -> None:
    adapter = made(project, "cat", build="image")
    assert [ran(adapter).trace.output, ran(adapter).trace.output] == ["hello", "hello"]
    made(project, "cat", build="image")
    assert len(log(state, "build")) == 1
    (project / "image" / "Dockerfile").write_text("FROM other\n")
    made(project, "cat", build="image")
    assert len(log(state, "build")) == 2


def test_a_container_of_a_trial_that_times_out_is_removed(
    state: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_once(monkeypatch, lambda recorder: containers(state))
    monkeypatch.setattr("agentmut.adapters._shared.outside.containers.REMOVE_SECONDS", 600.0)
    done = ran(made(project, "sleep", "600"))
    assert done.ending is Ending.TIMEOUT
    (words,) = log(state, "run")
    assert ["rm", "-f", "-t", "0", words[words.index("--name") + 1]] in log(state, "rm")
    assert containers(state) == []


def test_the_next_start_removes_containers_of_dead_owners_alone(state: Path, project: Path) -> None:
    dead, alive = "agentmut-4194399-0123456789ab", f"agentmut-{os.getpid()}-0123456789ab"
    for name in (dead, alive, "agentmut-mine"):
        (state / name).touch()
    made(project, "cat")
    assert sorted(containers(state)) == sorted([alive, "agentmut-mine"])
    assert f"label=agentmut={node_name()}" in log(state, "ps")[0]


def test_names_that_are_not_ours_are_never_left_behind() -> None:
    names = ("agentmut-7-0123456789ab", "agentmut-8-0123456789ab", "agentmut-7-x", "db-7-0123456789ab")
    assert left_behind(names, {7: False, 8: True}) == ("agentmut-7-0123456789ab",)


def test_an_engine_that_fails_is_no_failure_of_the_agent(state: Path, project: Path) -> None:
    done = ran(made(project, "cat", image="broken"))
    assert "podman could not run the container" in done.reason


@pytest.mark.parametrize(
    ("engine", "code", "stderr", "failed"),
    [
        ("docker", 125, b"", True),
        ("podman", 126, b"Error: crun: setrlimit", True),
        ("docker", 127, b"docker: Error response from daemon: exec", True),
        ("docker", 127, b"sh: git: not found", False),
        ("podman", 1, b"Error: mine", False),
    ],
)
def test_a_failure_of_the_engine_is_told_from_one_of_the_program(
    engine: str, code: int, stderr: bytes, failed: bool
) -> None:
    assert engine_failed(engine, code, stderr) is failed


def test_without_an_engine_nothing_is_run(
    state: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "away").touch()
    with pytest.raises(UsageError, match=r"docker is not installed; podman does not answer .Cannot connect"):
        made(project, "cat")
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(UsageError, match=r"podman is not installed\. Install or start Docker or Podman"):
        made(project, "cat")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("img", "is a mapping"),
        ({}, "either `image` or `build`"),
        ({"image": "a", "build": "b"}, "either `image` or `build`"),
        ({"image": "--privileged"}, "container.image"),
        ({"image": "a", "cpu": 1}, "container.cpu:"),
        ({"image": "a", "cpus": 0}, "container.cpus: should be greater than 0, got 0"),
        ({"image": "a", "wrong": 1}, "container.wrong: unknown key"),
        ({"image": "a", "memory": "lots"}, "container.memory"),
        ({"image": "a", "network": "bridge"}, "container.network"),
        ({"image": "a", "env": ["A=1"]}, "container.env.0"),
    ],
)
def test_wrong_settings_are_named(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        options_of(given)


def test_an_image_that_cannot_be_pulled_is_refused(state: Path, project: Path) -> None:
    with pytest.raises(UsageError, match="`podman pull` failed: no such image"):
        made(project, "cat", image="missing")


def test_a_digest_of_a_folder_depends_on_names_and_modes(project: Path) -> None:
    file = project / "image" / "Dockerfile"
    before = folder_digest(project / "image")
    file.chmod(0o755)
    changed = folder_digest(project / "image")
    file.rename(file.with_name("Containerfile"))
    assert len({before, changed, folder_digest(project / "image")}) == 3
