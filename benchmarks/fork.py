"""What does forking at the fault save, and does it change what a campaign decides? One campaign, live and forked.

An agent of four model calls asks the simulator: it plans, reads an order by a tool, reads a passage that it retrieves,
and answers. `live` runs each trial of a mutant from its beginning; `forked` lets it go along a recorded run of the
original until a request differs. Printed are the model requests a mutant that survives, by group of operators.
"""

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Result
from agentmut.project.loading import load_project
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.store.store import Store
from agentmut.usecases.campaigns import measure

AGENT = """
import json, os

import agentmut
import httpx


@agentmut.tool
def order(number: str) -> dict:
    return {"number": number, "status": "delivered", "days": 12}


@agentmut.tool
def carrier(number: str) -> dict:
    return {"number": number, "carrier": "Post", "late": False}


@agentmut.tool
def weather(place: str) -> dict:
    return {"place": place, "rain": False}


async def run(config, input):
    said = [{"role": "system", "content": config.prompt}]

    async def ask(text):
        said.append({"role": "user", "content": text})
        body = {"model": config.model.name, "messages": said}
        reply = await client.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body)
        said.append(reply.json()["choices"][0]["message"])
        return said[-1]["content"]

    page, rare = (document.wrapped for document in (*config.context, *config.context)[:2])
    async with httpx.AsyncClient(timeout=30) as client:
        await ask(f"Make a plan. {input}")
        found = order("A17")
        doubts = "garden" in await ask(f"This is the order: {json.dumps(found)}")
        asked = f"The carrier: {json.dumps(carrier('A17'))} {rare}" if doubts else "There is no doubt."
        await ask(f"{asked} This was read: {page}")
        answer = await ask(f"Answer. {input} The weather: {json.dumps(weather('Ulm'))}")
        return f"{answer} ({found.get('days')} days)" if isinstance(found, dict) else answer
"""
FLOW = """
import os

import httpx
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph


class Desk(MessagesState, total=False):
    said: list


def user(text):
    return {"role": "user", "content": text}


def build(config):
    async def ask(said, text):
        said = [*said, user(text)]
        body = {"model": config.model.name, "messages": said}
        async with httpx.AsyncClient(timeout=30) as client:
            reply = await client.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body)
        return [*said, reply.json()["choices"][0]["message"]]

    async def plan(state):
        rules = {"role": "system", "content": config.prompt}
        return {"said": await ask([rules], f"Make a plan. {state['messages'][0].text}")}

    async def look(state):
        return {"said": await ask(state["said"], "The order took 12 days.")}

    async def inquire(state):
        text = "The carrier says that it is not late."
        return {"said": [*state["said"], user(text), {"role": "assistant", "content": "Noted."}]}

    async def read(state):
        return {"said": await ask(state["said"], "Parcels take 3 days.")}

    async def answer(state):
        said = await ask(state["said"], f"Answer. {state['messages'][0].text}")
        text = f"{said[-1]['content']} (12 days)"
        return {"said": said, "messages": [AIMessage(text, id="answer")]}

    async def sign(state):
        text = state["messages"][-1].text + " Yours, Fernhill."
        return {"messages": [AIMessage(text, id="answer")]}

    def doubts(state):
        return "doubts" if "garden" in state["said"][-1]["content"] else "none"

    graph = StateGraph(Desk)
    for node in (plan, look, inquire, read, answer, sign):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "look")
    graph.add_conditional_edges("look", doubts, {"doubts": "inquire", "none": "read"})
    graph.add_edge("inquire", "read")
    graph.add_edge("read", "answer")
    graph.add_edge("answer", "sign")
    graph.add_edge("sign", END)
    return graph.compile()
"""
RULES = '- End every answer with "Take care!".\n- You may mention in every answer "the garden".\n'
RARE = "A carrier is late after 5 days. Late parcels are free. Ask the carrier about the rest.\n"
PAGE = "Parcels take 3 days. Returns are free within 30 days. Gifts are final. Ask us about the rest.\n"


class Part(NamedTuple):
    """One of the two agents, and how it is mutated."""

    code: str
    agent: dict[str, Any]
    operators: tuple[str, ...]


KINDS = ("malformed", "truncated", "wrong_entity", "slow")
PARTS = {
    "tools": Part(
        AGENT,
        {"adapter": "python", "run": "{name}:run"},
        (*(f"tool.result_{kind}" for kind in KINDS), "context.corrupt_value", "context.truncate"),
    ),
    "flow": Part(
        FLOW,
        {"adapter": "langgraph", "factory": "{name}:build"},
        ("orchestration.remove_node", "orchestration.remove_edge", "orchestration.reroute_branch"),
    ),
}


class Found(NamedTuple):
    """What one campaign decided, and the model requests behind it."""

    result: Result
    asked: dict[str, tuple[int, int, int]]
    """By mutant: trials, model requests, and how many of them a recorded run answered."""


def write_project(folder: Path, part: Part, *, fork: bool, seed: int) -> None:
    """Write a project with an agent of four model calls and two scenarios."""
    name = f"agent_{folder.name}"
    config = {"prompt": RULES, "model": {"name": "sim-large"}}
    if part.code == AGENT:
        config |= {"tools": "tools.yaml", "context": ["page.md", "rare.md"]}
    agent = {key: value.format(name=name) for key, value in part.agent.items()}
    project = {
        "version": 1,
        "agent": {**agent, "version": "1", "config": config},
        "mutation": {"operators": list(part.operators), "slow_seconds": 0.1},
        "statistics": {"seed": seed, "delta": 0.3},
        "execution": {"concurrency": 8, "fork": fork},
    }
    suite = [
        {"name": "polite", "input": "Where is my parcel?", "evaluators": [{"contains": "Take care!"}]},
        {"name": "days", "input": "How long did it take?", "evaluators": [{"contains": "12 days"}]},
    ]
    tools = [{"name": "order"}, {"name": "carrier"}, {"name": "weather"}]
    (folder / "scenarios").mkdir(parents=True)
    files = {f"{name}.py": part.code, "page.md": PAGE, "rare.md": RARE}
    values = {"agentmut.yaml": project, "tools.yaml": tools, "scenarios/all.yaml": suite}
    for file, text in {**files, **{file: yaml.safe_dump(value) for file, value in values.items()}}.items():
        (folder / file).write_text(text)


@contextmanager
def asking(simulator: Simulator) -> Iterator[None]:
    """Lead the model requests of this process to the simulator."""
    before = dict(os.environ)
    os.environ.update(simulator.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def campaign(folder: Path, part: Part, *, fork: bool, seed: int = 7) -> Found:
    """Measure the project against a simulator of its own."""
    write_project(folder, part, fork=fork, seed=seed)
    with Simulator(read_settings(seed=5)) as simulator, asking(simulator):
        result = measure(folder)
    return Found(result, _asked(folder, result))


def _asked(folder: Path, result: Result) -> dict[str, tuple[int, int, int]]:
    store = Store(load_project(folder).root / ".agentmut" / "store.db")
    try:
        found = {}
        for row in result.mutants:
            trials = store.trials_of(result.run_id, row.id)
            asked = sum(len(one.execution.footprint.exchanges) for one in trials)
            recalled = sum(part.requests for one in trials for part in one.execution.trace.recalled)
            found[row.id] = (len(trials), asked, recalled)
        return found
    finally:
        store.close()


def print_survivors(found: Found) -> None:
    """Print, by operator and subject: survivors, and trials, model requests and live ones of each on average."""
    groups = defaultdict(list)
    for row in found.result.mutants:
        if row.status is Status.SURVIVED:
            groups[row.operator, row.subject].append(found.asked[row.id])
    print(f"{'survivors':44}  trials  requests  asked  times fewer")
    for (operator, subject), counts in sorted(groups.items()):
        trials, asked, recalled = (sum(column) / len(counts) for column in zip(*counts, strict=True))
        fewer = f"{asked / (asked - recalled):.1f}" if asked > recalled else "none asked"
        what = f"{len(counts)} {operator} {subject}"
        print(f"{what:44} {trials:7.1f} {asked:9.1f} {asked - recalled:6.1f}  {fewer}")


def main() -> None:
    """Print what survivors asked for; with `--live`, also the statuses that differ where no trial is forked.

    Each status is a draw, so some differ by chance.
    """
    with tempfile.TemporaryDirectory() as name:
        for what, part in PARTS.items():
            forked = campaign(Path(name) / f"{what}_forked", part, fork=True)
            print_survivors(forked)
            print("; ".join(forked.result.notes))
            if "--live" in sys.argv:
                live = campaign(Path(name) / f"{what}_live", part, fork=False)
                statuses = [{row.id: row.status for row in found.result.mutants} for found in (live, forked)]
                differ = [
                    (statuses[0][m].value, statuses[1][m].value)
                    for m in statuses[0]
                    if len({s[m] for s in statuses}) > 1
                ]
                print(
                    f"{len(statuses[0])} mutants, whose status live and forked differs in {len(differ)}: {differ}"
                )


if __name__ == "__main__":
    main()
