"""The request that `agentmut doctor --save-request` keeps: a config for the wire, with what moves as placeholders."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.project.loading import load_project
from agentmut.report.terminal.doctor_page import render_diagnosis
from agentmut.store.documents.diagnosis import Diagnosis
from tests.doctor.examined_agents import (
    PROMPT,
    Ward,
)


@pytest.fixture
def ward(tmp_path: Path, service: Any, capsys: pytest.CaptureFixture[str]) -> Ward:
    return Ward(tmp_path, service.url, capsys)


def arrivals(found: Diagnosis) -> dict[str, tuple[str, str]]:
    return {part.name: (part.rebuild.arrival.value, part.wire.arrival.value) for part in found.parts}


def test_a_kept_request_is_a_config_for_the_wire(ward: Ward) -> None:
    ward.write("    return ask(body(PROMPT, [LOOK], temperature=0.3))", config={})
    kept = ward.folder / "request.json"
    found = ward.examine("--save-request", str(kept))
    every = ("prompt", "tool description", "model setting")
    assert arrivals(found) == dict.fromkeys(every, ("no", "yes"))
    assert found.trials == 1 + 1 + 3 + 2 and found.moving == () and found.differences == ()
    (advice,) = (said for said in found.advice if "agent.config.request" in said)
    assert f"Name {kept} under agent.config.request" in advice and "--save-request" not in advice
    assert "at most 8 times" in ward.err and "another clock" in ward.err
    assert json.loads(kept.read_text())["path"].endswith("/chat/completions")
    same = "    return ask(body(PROMPT, [LOOK], temperature=0.3))"
    ward.write(same, config={"request": "request.json"}, route="wire")
    config = load_project(ward.folder).config
    assert config.prompt == PROMPT.replace("{name}", "Bo") and config.tool_names == ("look",)
    found = ward.examine()
    assert arrivals(found)["prompt"] == ("no", "yes") and found.route == "wire"
    assert found.differences == ()


MOVING = """
    import datetime
    now = datetime.datetime.now()
    prompt = f"Be kind. Never promise dates. Today is {now:%A, %d %B %Y}. The user says {len(input)} letters. Ask once."
    tool = {**LOOK, "description": f"Look up an order of {now.year}."}
    return ask(body(prompt, [tool], temperature=0.3))
"""


def test_what_moves_is_a_placeholder_in_the_kept_request(ward: Ward) -> None:
    pytest.importorskip("time_machine")
    ward.write(MOVING, config={})
    more = {"name": "more", "input": "Hi there", "evaluators": [{"contains": "Hello"}]}
    with (ward.folder / "scenarios.yaml").open("a") as scenarios:
        scenarios.write(yaml.safe_dump([more]))
    kept = ward.folder / "request.json"
    found = ward.examine("--save-request", str(kept))
    assert found.trials == 3 + 3 + 2
    body = json.loads(kept.read_text())["body"]
    assert body["messages"][0]["content"] == (
        "Be kind. Never promise dates. Today is {date}. The user says {says} letters. Ask once."
    )
    assert body["tools"][0]["function"]["description"] == "Look up an order of {date}."
    assert found.moving[1:] == (
        'the prompt: {says} stands for "2"',
        f'the description of look: {{date}} stands for "{dt.datetime.now().year}"',
    )
    assert arrivals(found)["prompt"][1] == arrivals(found)["tool description"][1] == "yes"
    assert "What differs from run to run" in render_diagnosis(found)


FIVE_CALLS = """
    import datetime
    prompt = f"{config.context[0].text}\\nBe kind. Today is {datetime.date.today()}. Never promise dates to anybody."
    for _ in range(4):
        ask(body(prompt, [LOOK], temperature=config.model.temperature))
    return ask(body(prompt, [LOOK], temperature=config.model.temperature))
"""


def test_five_calls_a_run_every_part_and_a_template_take_eight_runs_at_most(ward: Ward, service: Any) -> None:
    pytest.importorskip("time_machine")
    (ward.folder / "policy.md").write_text("Refunds take five days.\n")
    ward.write(FIVE_CALLS, config={"context": ["policy.md"]})
    more = {"name": "more", "input": "Hi there", "evaluators": [{"contains": "Hello"}]}
    with (ward.folder / "scenarios.yaml").open("a") as scenarios:
        scenarios.write(yaml.safe_dump([more]))
    found = ward.examine("--save-request", str(ward.folder / "request.json"))
    assert list(arrivals(found)) == ["prompt", "document", "tool description", "model setting"]
    assert found.trials == 8 and len(service.requests) == 8 * 5
    assert "at most 8 times" in ward.err
    assert arrivals(found)["document"] == ("yes", "yes")
    assert arrivals(found)["prompt"] == ("no", "yes")


def test_a_request_that_the_project_names_already_is_written(ward: Ward) -> None:
    ward.write("    return ask(body(PROMPT, [LOOK]))", config={"request": "request.json"}, route="wire")
    ward.call("--yes", exit_code=2)
    assert "there is no such file. `agentmut doctor --save-request" in ward.err
    found = ward.examine("--save-request", str(ward.folder / "request.json"))
    assert arrivals(found)["prompt"] == ("no", "yes")
    assert not any("agent.config.request" in said for said in found.advice) and "Name it" not in ward.err
    assert load_project(ward.folder).config.tool_names == ("look",)
