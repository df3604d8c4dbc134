"""What does forking at the fault save, and does it change what a campaign decides? One campaign, live and forked.

An agent of four model calls asks the simulator: it plans, reads an order by a tool, reads a passage that it retrieves,
and answers. `live` runs each trial of a mutant from its beginning; `forked` lets it go along a recorded run of the
original until a request differs. Printed are the model requests a mutant that survives, by group of operators.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import yaml

from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Result
from agentmut.project.loading import load_project
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.store.store import Store
from agentmut.usecases.campaigns import measure

AGENT = """
import json
import agentmut
from openai import AsyncOpenAI, DefaultAsyncHttpxClient


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
        reply = await client.chat.completions.create(model=config.model.name, messages=said)
        said.append({"role": "assistant", "content": reply.choices[0].message.content})
        return said[-1]["content"]

    async with AsyncOpenAI(http_client=DefaultAsyncHttpxClient(verify=False), api_key="k") as client:
        await ask(f"First, make a plan. {input}")
        plan = await ask("Second, think about the parcel.")
        found = order("A17")
        third = f"Third, this is the order: {json.dumps(found)}"
        if "garden" in plan:
            third += f" Its carrier is {json.dumps(carrier('A17'))}"
        await ask(third)
        answer = await ask(f"Last, answer. {input} The weather: {json.dumps(weather('Ulm'))}")
        return f"{answer} ({found.get('days')} days)" if isinstance(found, dict) else answer
"""
RULES = '- End every answer with "Take care!".\n- You may mention in every answer "the garden".\n'


OPERATORS = tuple(
    f"tool.result_{kind}" for kind in ("empty", "malformed", "truncated", "wrong_entity", "slow")
)


class Found(NamedTuple):
    """What one campaign decided, and the model requests behind it."""

    result: Result
    requests: int
    """Requests that the service was sent, those of the baseline included."""
    asked: dict[str, tuple[int, int, int]]
    """By mutant: trials, model requests, and how many of them a recorded run answered."""


def write_project(folder: Path, name: str, *, fork: bool, seed: int) -> None:
    """Write a project with the agent above, two scenarios, and faults of its two tools."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(AGENT)
    project = {
        "version": 1,
        "agent": {
            "adapter": "python",
            "run": f"{name}:run",
            "version": "1",
            "config": {"prompt": RULES, "model": {"name": "sim-small"}, "tools": "tools.yaml"},
        },
        "mutation": {"operators": list(OPERATORS), "slow_seconds": 0.1},
        "statistics": {"seed": seed, "delta": 0.3},
        "execution": {"concurrency": 8, "fork": fork},
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
    tools = [{"name": "order"}, {"name": "carrier"}, {"name": "weather"}]
    (folder / "tools.yaml").write_text(yaml.safe_dump(tools))
    (folder / "scenarios").mkdir(exist_ok=True)
    suite = [
        {"name": "polite", "input": "Where is my parcel?", "evaluators": [{"contains": "Take care!"}]},
        {"name": "days", "input": "How long did it take?", "evaluators": [{"contains": "12 days"}]},
    ]
    (folder / "scenarios" / "all.yaml").write_text(yaml.safe_dump(suite))


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


def campaign(folder: Path, *, fork: bool, seed: int = 7) -> Found:
    """Measure the project against a simulator of its own."""
    write_project(folder, f"agent_{folder.name}", fork=fork, seed=seed)
    with Simulator(read_settings(seed=5)) as simulator, asking(simulator):
        result = measure(folder)
        return Found(result, len(simulator.requests), _asked(folder, result))


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


def per_survivor(found: Found) -> dict[str, tuple[int, float, float, float]]:
    """Return, by operator: survivors, and trials, model requests and paid ones of each on average."""
    groups = defaultdict(list)
    for row in found.result.mutants:
        if row.status is Status.SURVIVED:
            groups[row.operator, row.subject].append(found.asked[row.id])
    table = {}
    for (operator, subject), counts in sorted(groups.items()):
        n = len(counts)
        trials, asked, recalled = (sum(column) / n for column in zip(*counts, strict=True))
        table[f"{operator} {subject}"] = (n, trials, asked, asked - recalled)
    return table


def main() -> None:
    """Print both campaigns, and the statuses that differ: each status is a draw, and may do so by chance."""
    with tempfile.TemporaryDirectory() as name:
        live, forked = (campaign(Path(name) / kind, fork=kind == "forked") for kind in ("live", "forked"))
    for kind, found in (("live", live), ("forked", forked)):
        print(f"{kind}: {found.requests} model requests in all")
        for what, (n, trials, asked, paid) in per_survivor(found).items():
            print(
                f"  {what:40} {n} survivors, {trials:.1f} trials, {asked:.1f} requests, {paid:.1f} asked of the service"
            )
        for note in found.result.notes:
            print("  note:", note)
    statuses = [{row.id: row.status.value for row in found.result.mutants} for found in (live, forked)]
    differ = {m for m in statuses[0] if statuses[0][m] != statuses[1][m]}
    print(f"statuses {len(statuses[0])}, of which {len(differ)} differ")


if __name__ == "__main__":
    main()
