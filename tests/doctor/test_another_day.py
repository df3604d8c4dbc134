"""A request that is kept on one day is a template for any other: the same mutants, statuses and denominator."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import main

time_machine = pytest.importorskip("time_machine")

AGENT = """
import datetime as dt, os, random

import httpx

RULES = ["Never promise a delivery date.", "Always ask for the order number first.", "Refund at most 50 euros."]
PAGES = {{"refund": "Refunds take five days.\\nThey go to a card.", "order": "Parcels take two days.\\nThey come."}}
TOOLS = [
    {{"type": "function", "function": {{"name": name, "description": f"Can {{name}} for a customer.", "parameters": {{
        "type": "object", "properties": {{"order": {{"type": "string"}}}}}}}}}}
    for name in ("find_order", "send_refund", "write_mail")
]


def date(input):
    return f"It is {{dt.datetime.now():%A, %B %d, %Y at %I:%M %p}}. " + " ".join(RULES)


def user(input):
    name = "Bo" if "refund" in input else "Ann Lee"
    return f"{{RULES[0]}} The user is {{name}}, today is {{dt.date.today()}}. {{RULES[1]}}\\n{{RULES[2]}}"


def page(input):
    found = next(text for word, text in PAGES.items() if word in input)
    return "\\n".join([*RULES[:2], "", "# Found", found, "", "# Rules", RULES[2]])


def shuffled(input):
    random.shuffle(TOOLS)
    return f"{{RULES[0]}} ({{dt.datetime.now():%H:%M:%S}})\\n{{RULES[1]}}\\n{{RULES[2]}}"


def run(input):
    messages = [{{"role": "system", "content": {kind}(input)}}, {{"role": "user", "content": input}}]
    body = {{"model": "m", "messages": messages, "tools": TOOLS}}
    return httpx.post({url!r} + "/chat/completions", json=body).json()["choices"][0]["message"]["content"]
"""
SCENARIOS = [
    {"name": name, "input": f"My {name}, please.", "evaluators": [{"contains": "Hello"}]}
    for name in ("refund", "order")
]
RECORDED, LATER = (
    dt.datetime(2026, 11, 27, 2, 46, tzinfo=dt.UTC),
    dt.datetime(2027, 2, 3, 18, 5, tzinfo=dt.UTC),
)


class Desk:
    """A project with an agent whose prompt moves."""

    def __init__(self, folder: Path, kind: str, url: str) -> None:
        self.folder = folder
        module = f"moving_{kind}"
        (folder / f"{module}.py").write_text(AGENT.format(kind=kind, url=url))
        (folder / "scenarios.yaml").write_text(yaml.safe_dump(SCENARIOS))
        self._agent = {"adapter": "python", "run": f"{module}:run", "safe_tools": "all"}

    def call(self, *words: str, config: dict[str, Any], at: dt.datetime) -> int:
        project = {
            "version": 1,
            "agent": {**self._agent, "config": config},
            "suite": {"scenarios": "scenarios.yaml"},
            "mutation": {
                "operators": ["prompt.drop_instruction", "prompt.negate", "tool.re*", "tool.*description*"]
            },
            "statistics": {"rounds": "one", "baseline": 10, "delta": 0.5},
        }
        (self.folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
        with time_machine.travel(at.timestamp(), tick=True), pytest.raises(SystemExit) as left:
            main([*words, "--project", str(self.folder), "--yes"])
        return int(str(left.value.code or 0))

    def statuses(self, at: dt.datetime) -> dict[str, str]:
        assert self.call("run", "--fresh", config={"request": "agent.json"}, at=at) == 0
        results = (json.loads(path.read_text()) for path in self.folder.glob(".agentmut/runs/*/result.json"))
        result = max(results, key=lambda found: str(found["run_id"]))
        assert not any("does not send" in note for note in result["notes"])  # what moves is no difference
        return {mutant["id"]: mutant["status"] for mutant in result["mutants"]}


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["date", "user", "page", "shuffled"])
def test_recorded_on_one_day_and_run_on_another(kind: str, tmp_path: Path, service: Any) -> None:
    service.answer = lambda request: "Hello." if "Never promise" in request.system_text else "No."
    desk = Desk(tmp_path, kind, service.url)
    assert desk.call("doctor", "--save-request", str(tmp_path / "agent.json"), config={}, at=RECORDED) == 0
    same, later = desk.statuses(RECORDED), desk.statuses(LATER)
    assert same == later
    lost = sum(status == "not_applied" for status in later.values())
    assert lost == (2 if kind == "shuffled" else 0)  # two orders of tools that the agent itself shuffles
    assert {"killed", "survived"} <= set(later.values())
