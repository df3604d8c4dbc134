"""`agentmut simulate` with its settings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm_command import AGENTMUT

pytestmark = pytest.mark.process

SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


def simulate(folder: Path, *options: str, code: str = SHOW) -> subprocess.CompletedProcess[str]:
    command = [*AGENTMUT, "simulate", *options, "--", sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def test_the_sdks_of_all_services_are_led_to_the_simulator(tmp_path: Path) -> None:
    told = json.loads(simulate(tmp_path).stdout)
    root = told["ANTHROPIC_BASE_URL"]
    assert root.startswith("http://127.0.0.1:")
    assert told["OPENAI_BASE_URL"] == f"{root}/v1"
    assert told["GOOGLE_GEMINI_BASE_URL"] == told["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] == root
    keys = (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    )
    assert {told[key] for key in keys} == {"simulated"}
    assert told["AWS_REGION"] == told["AWS_DEFAULT_REGION"] == "us-east-1"
    assert told["AGENTMUT_SIMULATOR"].endswith("/seed-0")


def test_faults_are_made_and_are_part_of_the_simulators_identity(tmp_path: Path) -> None:
    code = """
import json, os, urllib.error, urllib.request
print(os.environ["AGENTMUT_SIMULATOR"])
body = json.dumps({"model": "gpt-x", "messages": [{"role": "user", "content": "Hi"}]}).encode()
for _ in range(2):
    try:
        with urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", data=body) as answer:
            print(json.load(answer)["model"])
    except urllib.error.HTTPError as error:
        print(error.code, error.headers["retry-after-ms"])
"""
    options = ["--fault", "429:@1", "--fault", "hang:@3", "--fault-seed", "7", "--retry-after", "30ms"]
    options += [
        "--latency",
        "5ms",
        "--chunk-latency",
        "uniform:low=1ms,high=2ms",
        "--alias",
        "gpt-x=sim-large",
    ]
    identity, *answers = simulate(tmp_path, *options, code=code).stdout.splitlines()
    assert answers == ["429 30", "gpt-x"]
    assert identity.partition("/")[2] == (
        "seed-0/trouble-429:@1+hang:@3+seed-7+retry-after-0.03/latency-5ms"
        "/chunk-latency-uniform:low=1ms,high=2ms/alias-gpt-x=sim-large"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fault", "teapot:1"], "'teapot' is no kind of fault"),
        (["--alias", "gpt-x"], "expected NAME=MODEL"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(options: list[str], said: str, tmp_path: Path) -> None:
    done = simulate(tmp_path, *options)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
