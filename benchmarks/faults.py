"""Does trouble of a service change what a campaign decides? The same campaign, clean and with one request in five in
trouble.

`make slow` runs it through the proxy: an agent that is a program of its own, streamed and without retries. Each
trial of the simulator has luck of its own, whatever trouble its requests meet, so the decisions have to be the same.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentmut.nouns.result import Result
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.simulator.service.trouble import FaultKind, trouble_of
from agentmut.usecases.campaigns import measure

HANGS = 0.002
"""Share of requests that hang: each costs the whole patience of the agent."""
SEED = 7
AGENT = '''
import asyncio, json, sys
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

PROMPT = """{prompt}"""


async def run(input):
    http = DefaultAsyncHttpxClient(verify=False, timeout={patience})
    async with AsyncOpenAI(max_retries=0, http_client=http, api_key="k") as client:
        said = [{{"role": "system", "content": PROMPT}}, {{"role": "user", "content": input}}]
        async with client.chat.completions.stream(model="sim-small", messages=said) as events:
            return (await events.get_final_completion()).choices[0].message.content


if __name__ == "__main__":
    print(asyncio.run(run(sys.stdin.read())))
'''
RULES = {
    "End every answer with": "Take care!",
    "Begin every answer with": "Hello.",
    "Mention in every answer": "the garden",
}
"""A rule and a scenario for each."""


class Size(NamedTuple):
    """How large a campaign is."""

    rules: int
    baseline: int
    n_max: int
    concurrency: int
    patience: float = 2.0


class Found(NamedTuple):
    """What one campaign decided, at which price."""

    result: Result
    seconds: float
    requests: int
    troubled: int

    @property
    def decisions(self) -> dict[str, Any]:
        """By mutant: its status and the counts behind it."""
        return {
            row.id: (row.operator, row.status, [(e.scenario, e.failures, e.trials) for e in row.evidence])
            for row in self.result.mutants
        }


def write_project(folder: Path, size: Size, adapter: str) -> None:
    """Write a project whose agent is a program, or a function in this process; mutants reach it on the wire."""
    rules = dict(list(RULES.items())[: size.rules])
    prompt = "\n".join(f'- {rule} "{words}".' for rule, words in rules.items()) + '\n- Never say "cheap".\n'
    (folder / "scenarios").mkdir(parents=True)
    name = f"agent_{folder.name.replace('-', '_')}"
    (folder / f"{name}.py").write_text(AGENT.format(prompt=prompt, patience=size.patience))
    program = {"adapter": "command", "command": [sys.executable, f"{name}.py"]}
    agent = program if adapter == "command" else {"adapter": "openai", "run": f"{name}:run"}
    project = {
        "version": 1,
        "agent": {**agent, "version": "1", "config": {"prompt": prompt, "model": {"name": "sim-small"}}},
        "mutation": {"operators": ["prompt.drop_instruction", "prompt.negate"]},
        "statistics": {"baseline": size.baseline, "n_max": size.n_max, "delta": 0.4},
        "execution": {"retries": 10, "timeout": 20, "concurrency": size.concurrency},
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
    suite = [
        {"name": f"s{n}", "input": "Where is my parcel?", "evaluators": [{"contains": words}]}
        for n, words in enumerate(rules.values())
    ]
    (folder / "scenarios" / "all.yaml").write_text(yaml.safe_dump(suite))


def campaign(folder: Path, size: Size, adapter: str, faults: Sequence[str]) -> Found:
    """Measure against a simulator of its own; the same seed each time."""
    write_project(folder, size, adapter)
    trouble = trouble_of(faults, seed=1, retry_after=0.01)
    with Simulator(read_settings(seed=5, trouble=trouble)) as simulator:
        before = dict(os.environ)
        os.environ.update(simulator.environment)
        started = time.perf_counter()
        try:
            result = measure(folder, seed=SEED)
        finally:
            os.environ.clear()
            os.environ.update(before)
        if result.status != "finished":
            raise SystemExit(f"the campaign ended as {result.status}: its decisions cannot be compared")
        seconds = time.perf_counter() - started
        troubled = sum(received.fault is not None for received in simulator.requests)
        return Found(result, seconds, len(simulator.requests), troubled)


def one_in_five(hangs: float = HANGS) -> list[str]:
    """Return faults of every kind, of 20 % of the requests."""
    others = [kind for kind in FaultKind if kind is not FaultKind.HANG]
    shares = [f"{kind}:{(0.2 - hangs) / len(others):.5f}" for kind in others]
    return [f"{FaultKind.HANG}:{hangs}", *shares] if hangs else shares


def both(folder: Path, size: Size, adapter: str, hangs: float = HANGS) -> tuple[Found, Found]:
    """Clean, and in trouble."""
    clean = campaign(folder / "clean", size, adapter, ())
    return clean, campaign(folder / "faulty", size, adapter, one_in_five(hangs))


def main() -> None:
    """Print the comparison; exit 1 where a decision differs."""
    with tempfile.TemporaryDirectory() as name:
        clean, faulty = both(Path(name), Size(2, baseline=15, n_max=15, concurrency=4), "command")
    differ = {m for m, said in clean.decisions.items() if faulty.decisions.get(m) != said}
    print(f"decisions {len(clean.decisions)}, of which {len(differ)} differ")
    print(f"requests in trouble {faulty.troubled} of {faulty.requests} ({clean.requests} clean)")
    print(f"seconds {clean.seconds:.1f} clean, {faulty.seconds:.1f} faulty")
    for mutant in sorted(differ):
        print(mutant, clean.decisions[mutant], faulty.decisions.get(mutant))
    sys.exit(bool(differ) or len(clean.decisions) != len(faulty.decisions))


if __name__ == "__main__":
    main()
