"""Agents, evaluators and users that misbehave: one clear paragraph, the right exit code, nothing leaked."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agentmut
from agentmut._base.errors import UsageError
from tests.warm_command import AGENTMUT, ROOT, run_agentmut

pytestmark = pytest.mark.process

GOOD = 'def run(config, input):\n    return "hello" if "greet" in config.prompt else "hm"\n'
SECRET = "tok-5f0c9d1e7a3b2468"


def write(folder: Path, agent: str = GOOD, extra: str = "", evaluator: str = "contains: hello") -> Path:
    (folder / "scenarios").mkdir(exist_ok=True)
    (folder / "my_agent.py").write_text(agent)
    (folder / "scenarios" / "s.yaml").write_text(
        f'- name: s\n  input: "hi"\n  evaluators: [{{{evaluator}}}]\n'
    )
    (folder / "agentmut.yaml").write_text(
        "version: 1\n"
        "agent:\n  adapter: python\n  run: my_agent:run\n"
        '  config: {prompt: "Always greet the user. Be brief."}\n'
        f"mutation: {{operators: [prompt.drop_instruction]}}\nstatistics: {{baseline: 30}}\n{extra}"
    )
    return folder


def command(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_agentmut(cwd, *arguments, **variables)


def statuses(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {m["before"].strip(): m["status"] for m in json.loads(done.stdout)["mutants"]}


def test_what_agents_print_is_kept_off_stdout(tmp_path: Path) -> None:
    noisy = f"import os\nprint('import')\n{GOOD}".replace(
        "    return", "    print('run'); os.write(1, b'raw'); os.system('echo child')\n    return"
    )
    for verb in (["mutants"], ["run", "--yes"]):
        done = command(*verb, "--json", cwd=write(tmp_path, noisy))
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)
        assert "import" in done.stderr


def test_a_failure_with_json_is_one_document_too(tmp_path: Path) -> None:
    done = command("run", "--json", cwd=tmp_path)
    assert done.returncode == 2
    document = json.loads(done.stdout)
    assert document["exit_code"] == 2
    assert "agentmut init" in document["error"]


def test_secrets_reach_neither_the_disk_nor_the_terminal(tmp_path: Path) -> None:
    leaky = (
        "import os\nimport agentmut\n"
        "@agentmut.tool\ndef call(token): return token\n"
        'def run(config, input):\n    secret = os.environ["SERVICE_TOKEN"]\n    call(secret)\n'
        '    if "greet" not in config.prompt: raise ValueError(f"no {secret}")\n    return "hello " + secret\n'
    )
    project = write(tmp_path, leaky)
    text = (project / "agentmut.yaml").read_text()
    given = text.replace("run: my_agent:run\n", 'run: my_agent:run\n  env: {SERVICE_TOKEN: "${MINE}"}\n')
    (project / "agentmut.yaml").write_text(given)
    done = command("run", "--yes", "--json", cwd=project, MINE=SECRET)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    kept = b"".join(path.read_bytes() for path in (project / ".agentmut").rglob("*") if path.is_file())
    assert b"[redacted]" in kept
    assert SECRET.encode() not in kept


def test_a_mutant_that_crashes_its_process_is_killed_and_not_lost(tmp_path: Path) -> None:
    crashing = "import os\n" + GOOD.replace(
        "    return", "    if config.prompt and 'greet' not in config.prompt: os._exit(3)\n    return"
    )
    extra = "execution: {isolate: process, retries: 0, concurrency: 2}\n"
    done = command("run", "--yes", "--json", cwd=write(tmp_path, crashing, extra))
    assert done.returncode == 0, done.stderr
    assert statuses(done)["Always greet the user."] == "killed"
    crashed = next(m for m in json.loads(done.stdout)["mutants"] if m["status"] == "killed")
    assert crashed["witness"]["route"] == "effect"


def test_an_evaluator_that_exits_is_an_error_of_the_evaluator(tmp_path: Path) -> None:
    project = write(tmp_path, evaluator='python: "judge:judge"')
    (project / "judge.py").write_text("import sys\ndef judge(trace): sys.exit(0)\n")
    done = command("run", "--yes", cwd=project)
    assert done.returncode == 4
    assert "SystemExit" in done.stderr


def test_an_agent_that_raises_keyboard_interrupt_fails_its_trial_only(tmp_path: Path) -> None:
    rude = "async " + GOOD.replace(
        "    return",
        "    if config.prompt and 'greet' not in config.prompt: raise KeyboardInterrupt\n    return",
    )
    done = command("run", "--yes", "--json", cwd=write(tmp_path, rude))
    assert done.returncode == 0, done.stderr
    assert statuses(done)["Always greet the user."] == "killed"


def test_two_commands_do_not_work_on_one_store_at_once(tmp_path: Path) -> None:
    slow = "import time\n" + GOOD.replace("    return", "    time.sleep(2)\n    return")
    project = write(tmp_path, slow)
    first = subprocess.Popen(
        [*AGENTMUT, "run", "--yes"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (project / ".agentmut" / "store.db").exists():
            assert first.poll() is None
        second = command("run", "--yes", cwd=project)
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 4
    assert "another agentmut command" in second.stderr


def test_a_variable_of_the_project_file_is_part_of_the_agent(tmp_path: Path) -> None:
    moody = "import os\n" + GOOD.replace('"hello" if', '"hello" if os.environ.get("MODE") != "bad" and')
    first = command("run", "--yes", cwd=write(tmp_path, moody))
    assert first.returncode == 0, first.stderr
    text = (tmp_path / "agentmut.yaml").read_text()
    (tmp_path / "agentmut.yaml").write_text(
        text.replace("run: my_agent:run\n", "run: my_agent:run\n  env: {MODE: bad}\n")
    )
    second = command("run", "--yes", cwd=tmp_path)
    assert second.returncode == 4
    assert "failed every baseline trial" in second.stderr


@pytest.mark.parametrize("setting", ["n_max: 1000000", "power: 0.99999999999999"])
def test_statistics_out_of_range_are_refused_by_file_and_key(tmp_path: Path, setting: str) -> None:
    project = write(tmp_path)
    text = (project / "agentmut.yaml").read_text().replace("baseline: 30", f"baseline: 30, {setting}")
    (project / "agentmut.yaml").write_text(text)
    done = command("run", "--yes", cwd=project)
    assert done.returncode == 2
    assert setting.split(":", maxsplit=1)[0] in done.stderr
    assert "Traceback" not in done.stderr


def test_escapes_of_an_agent_do_not_reach_the_terminal_through_an_error(tmp_path: Path) -> None:
    done = command(
        "run", "--yes", cwd=write(tmp_path, 'def run(config, input): raise ValueError("\\x1b[31m\\x9b31m")\n')
    )
    assert done.returncode == 4
    assert "\x1b" not in done.stderr
    assert "\x9b" not in done.stderr


@pytest.mark.whole
def test_measure_can_be_called_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write(tmp_path)
    monkeypatch.delitem(sys.modules, "my_agent", raising=False)  # another test's
    first: Any = agentmut.measure(project)
    second: Any = agentmut.measure(project)
    assert first.cost.trials > 0
    assert second.cost.trials == 0


def test_measure_says_how_to_call_it_from_a_running_loop(tmp_path: Path) -> None:
    async def call() -> None:
        agentmut.measure(tmp_path)

    with pytest.raises(UsageError, match=r"asyncio\.to_thread"):
        asyncio.run(call())


def test_version_is_printed() -> None:
    done = command("--version", cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, f"agentmut {agentmut.__version__}\n")
