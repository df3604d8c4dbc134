"""Damaged files of others: agents, recorded runs, stores to merge. The inputs of `benchmarks/fuzz.py` beside bodies."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import NamedTuple

from agentmut._base import AgentmutError, UsageError
from agentmut.campaign import Selection, make_mutants, make_plan, open_session, part_of, plan_merge, register
from agentmut.mutation import changes
from agentmut.nouns import AgentConfig
from agentmut.project import load_project, read_config_file
from agentmut.seams import TraceFile
from agentmut.trace_formats import read_traces
from agentmut.usecases import carry_out_campaign, open_store

TESTDATA = Path(__file__).resolve().parent.parent / "tests" / "testdata"
MARKS = list("{}[]:,\"'&*!|>%@`-# \t\n\x00é\u2028")


class Input(NamedTuple):
    """One thing to try: what it is, and the call."""

    part: str
    shown: str
    call: Callable[[], object]
    may_raise: type[Exception]


def changed(text: str, rng: random.Random) -> str:
    """Return the text with up to four characters changed, cut or added."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(MARKS) + text[at + rng.randint(0, 2) :]
    return text


def cut(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes cut, doubled or changed somewhere."""
    start = rng.randint(0, len(data))
    end = min(len(data), start + rng.choice((0, 1, 2, 40, 10**6)))
    return data[:start] + rng.choice((b"", b"\xff", b"{", b"\n\n", data[start:end] * 2)) + data[end:]


class Files:
    """Makes inputs of files; what has to be there once is made at the beginning."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._agents = [path for path in sorted((TESTDATA / "agent_files").iterdir()) if path.is_file()]
        traces = sorted((TESTDATA / "traces").glob("*.jsonl"))
        self._traces = {path.name: path.read_bytes().splitlines(keepends=True)[:3] for path in traces}
        self._stored = self._shard(folder / "shard")
        self._session = open_session(load_project(folder / "shard"))

    def agent_file(self, rng: random.Random) -> Input:
        """Return a file that describes an agent, with characters changed, and what of the agent has changed by that."""
        path = rng.choice(self._agents)
        text = changed(path.read_text(), rng)

        def read() -> object:
            copy = self._folder / path.name
            copy.write_text(text, encoding="utf-8")
            new = read_config_file(copy).config
            return changes(AgentConfig(prompt="x", tools=new.tools[:1]), new)

        return Input(f"agent file {path.name}, and --changed-since", repr(text)[:600], read, UsageError)

    def trace_file(self, rng: random.Random) -> Input:
        """Return a file of recorded runs with some of its bytes cut, doubled or changed."""
        name, lines = rng.choice(list(self._traces.items()))
        data = cut(b"".join(lines), rng)

        def read() -> object:
            copy = self._folder / "recorded.jsonl"
            copy.write_bytes(data)
            return read_traces([TraceFile(copy, copy.name)])

        return Input(f"traces {name}", repr(data)[:600], read, UsageError)

    def shard(self, rng: random.Random) -> Input:
        """Return a store to merge that is damaged somewhere: pages, a plan, or its end."""
        data = cut(self._stored, rng) if rng.random() < 0.5 else _garbled(self._stored, rng)

        def merge() -> object:
            folder = self._folder / "damaged"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            (folder / "store.db").write_bytes(data)
            return plan_merge(self._session, [folder, self._folder / "shard"], 0.0)

        return Input("stores to merge", f"{len(data)} bytes", merge, AgentmutError)

    @staticmethod
    def _shard(folder: Path) -> bytes:
        """Run one shard of a small campaign; return its store."""
        folder.mkdir()
        (folder / "fuzzed_agent.py").write_text(
            "def run(config, input):\n    return 'hello' if config.prompt else 'no'\n"
        )
        (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
        (folder / "prompt.md").write_text("- Be brief.\n- Be kind.\n")
        (folder / "agentmut.yaml").write_text(
            'version: 1\nagent: {adapter: python, run: "fuzzed_agent:run", config: {prompt: prompt.md}}\n'
            "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
            "statistics: {baseline: 20, rounds: one, n_max: 20}\n"
        )
        project = load_project(folder)
        with open_store(project) as store:
            session = open_session(project)
            plan = part_of(
                make_plan(session, make_mutants(session, Selection()), 1, time()),
                "1/2",
                baseline_only=False,
                fresh=False,
            )
            register(store, plan)
            carry_out_campaign(session, plan, store)
        return (folder / ".agentmut" / "store.db").read_bytes()


def _garbled(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a few of them changed, beyond the header."""
    garbled = bytearray(data)
    for _ in range(rng.randint(1, 40)):
        garbled[rng.randrange(100, len(garbled))] = rng.randrange(256)
    return bytes(garbled)
