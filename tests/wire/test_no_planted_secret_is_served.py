"""200 planted secrets reach pages, pytest's plugin, fingerprints and progress: an agent of the OpenAI SDK says them."""

import sys
from pathlib import Path

import pytest

from tests.wire.said_secrets import CALLED, write_files, written_files
from tests.wire.served_pages import PAGES
from tests.wire.test_no_key_is_kept import started
from tests.wire.test_no_planted_secret_is_kept import SAYING, found, write_project

MODULE = f"""{SAYING}
import os
import agentmut, openai

@agentmut.tool
def look_up(query, password):
    return {{"found": some(), "session_token": TEXTS[0]}}

def answer(prompt, input):
    with openai.OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="offline", max_retries=0) as client:
        said = [{{"role": "system", "content": prompt}}, {{"role": "user", "content": input + "\\n" + some()}}]
        tools = [{{"type": "function", "function": {{"name": "look_up", "parameters": {{"type": "object"}}}}}}]
        reply = client.chat.completions.create(model="sim-large", messages=said, tools=tools)
    return reply.choices[0].message.content or "called a tool"

def run(config, input):
    said = answer(config.prompt, input)
    look_up(some(), password="correct horse")
    if "shout" not in config.prompt:
        raise RuntimeError("cannot log in with " + some())
    return "kind " + some() + "\\n" + said
"""
SUITE = """
import sdk_module

def test_reply(agentmut_config):
    said = sdk_module.answer(agentmut_config.prompt, "hello")
    assert said and "shout" in agentmut_config.prompt, sdk_module.some()
"""
VERBS = f"""{CALLED}
{PAGES}
assert live("run", "--yes", "--continue", "--serve", "--full") > 1
first = max(Path(".agentmut").rglob("result.json"))
called("run", "--yes", "--continue", "--fresh", "--json")
called("report", "--full", "--compare", str(first))
called("relations", "--survivors", "--yes")
called("suggest", "--full")
called("baseline", "save", "--trials", "12", "--yes")
called("baseline", "compare", "--yes", "--behaviour")
called("baseline", "compare", "--yes", "--behaviour", "--json")
called("test", "--yes", "--trials", "12", "--behaviour", "default")
for more in ((), ("--json",), ("--csv",), ("--full", "--failed")):
    called("trials", *more)
assert team(".") > 2
project = Path("agentmut.yaml")
project.write_text(project.read_text().replace("scenarios: scenarios.yaml", "pytest: test_desk.py"))
assert tested("--agentmut", "--agentmut-yes", "test_desk.py") in (0, 3)
called("report", "--full")
called("trials", "--trial", "1")
"""


@pytest.mark.process
@pytest.mark.whole
def test_no_planted_secret_is_served_or_printed(tmp_path: Path, warm: None) -> None:
    own = write_project(tmp_path, "adapter: python\n  run: sdk_module:run")
    own |= write_files(tmp_path, {"sdk_module.py": MODULE, "test_desk.py": SUITE, "verbs.py": VERBS})
    process = started(tmp_path, SIMULATED)
    streams = process.communicate(timeout=900)
    assert process.returncode == 0, streams[1][-3000:].decode()
    kept = written_files(tmp_path, own)
    told = kept | dict(zip(("stdout", "stderr"), streams, strict=True))
    assert {name: secrets for name, text in told.items() if (secrets := found(text))} == {}
    assert {"served-live-states.txt", "served-team-1.txt", "served-pytest-0.txt"} <= kept.keys()
    assert b"[redacted]" in b"".join(text for name, text in kept.items() if name.startswith("served-"))
    assert b"baseline" in kept["live.out"]


SIMULATED = f"""
from agentmut.cli import main
main(["simulate", "--", {sys.executable!r}, "verbs.py"])
"""
