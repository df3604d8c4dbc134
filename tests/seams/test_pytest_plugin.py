"""The fixtures of the simulator, in pytest runs of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
HEAVY = [
    "agentmut.simulator",
    "agentmut.wire",
    "agentmut.campaign",
    "aiohttp",
    "pydantic",
    "asyncio",
    "openai",
]

AGENT_TESTS = """
import json
import urllib.error
import urllib.request

import pytest

BODY = json.dumps({"model": "sim-large", "messages": [{"role": "user", "content": "Hi"}]}).encode()


def ask(url):
    with urllib.request.urlopen(f"{url}/chat/completions", data=BODY) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def test_a_model_answers(agentmut_simulator):
    assert ask(agentmut_simulator.openai_base_url).startswith("I am sorry")
    (received,) = agentmut_simulator.requests
    assert (received.trial, received.dialect, received.request.messages[0].text) == ("", "chat_completions", "Hi")


@pytest.mark.agentmut_simulator(trouble=["429:@1"], seed=3)
def test_settings_come_with_the_marker(agentmut_simulator):
    with pytest.raises(urllib.error.HTTPError, match="429"):
        ask(agentmut_simulator.of("a").openai_base_url)
    assert agentmut_simulator.settings.seed == 3
    assert [received.fault for received in agentmut_simulator.requests_of("a")] == ["429"]
    assert agentmut_simulator.requests_of("b") == []


def test_other_programs_are_led_here_by_their_environment(agentmut_simulator):
    environment = agentmut_simulator.environment
    assert environment["OPENAI_BASE_URL"] == agentmut_simulator.openai_base_url
    assert environment["ANTHROPIC_BASE_URL"] == agentmut_simulator.anthropic_base_url
    assert environment["GOOGLE_GEMINI_BASE_URL"] == agentmut_simulator.gemini_base_url
    assert environment["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] == agentmut_simulator.bedrock_endpoint
    assert environment["AGENTMUT_SIMULATOR"].endswith("/seed-0")


def test_two_services_at_once(agentmut_simulator_factory):
    slow, named = agentmut_simulator_factory(latency="1ms"), agentmut_simulator_factory(aliases={"x": "sim-small"})
    assert slow.openai_base_url != named.openai_base_url
    assert ask(slow.openai_base_url) == ask(named.openai_base_url)


@pytest.mark.agentmut_simulator(trouble=["teapot:1"])
def test_settings_that_cannot_be_meant(agentmut_simulator):
    pass

@pytest.mark.agentmut_simulator(trouble="429:1.0")
def test_a_text_in_the_place_of_a_list(agentmut_simulator):
    pass

@pytest.mark.agentmut_simulator(truoble=["429:1.0"])
def test_a_misspelt_setting(agentmut_simulator):
    pass
"""
QUIET = [
    f"-pno:{plugin}"
    for plugin in ("anyio", "deepeval", "hypothesispytest", "langsmith_plugin", "xdist", "asyncio")
]


def run_pytest(folder: Path, code: str = AGENT_TESTS) -> subprocess.CompletedProcess[str]:
    (folder / "test_agent.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", "-rA", *QUIET]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


def test_the_fixtures_serve_a_suite_without_any_setting_up(tmp_path: Path) -> None:
    done = run_pytest(tmp_path)
    assert "4 passed, 3 errors" in done.stdout, done.stdout
    assert "'teapot' is no kind of fault" in done.stdout
    assert "trouble is a list, such as ['429:1.0']" in done.stdout
    assert "pytest_plugin.py" not in done.stdout
    assert "has no setting 'truoble'; it takes seed, trouble, latency" in done.stdout


def test_a_suite_that_does_not_use_the_fixtures_does_not_pay_for_them(tmp_path: Path) -> None:
    code = f"""
import sys

def test_nothing_was_loaded():
    assert "agentmut.pytest_plugin.plugin" in sys.modules
    loaded = [name for name in sys.modules if name.startswith("agentmut") or name in {HEAVY}]
    assert sorted(loaded) == ["agentmut", "agentmut.pytest_plugin", "agentmut.pytest_plugin.plugin"]
"""
    done = run_pytest(tmp_path, code)
    assert done.returncode == 0, done.stdout
