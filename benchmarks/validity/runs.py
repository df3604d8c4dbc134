"""Run every scenario of a project several times, of the original and of mutants, and keep which checks held."""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import AgentmutError, digest_of
from agentmut.campaign import Selection, make_mutants, open_session
from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.session import Session
from agentmut.nouns import Intent, Mutant
from agentmut.project import load_project
from agentmut.trial import TrialRequest

Held = Mapping[str, Sequence[Sequence[bool]]]
"""By scenario: for each run, whether each check held."""
AT_ONCE = 16
"""Trials at the same time."""
NOT_BUILT = 3
"""The exit code where the agent cannot be built, as some faults have it."""


class Ran(NamedTuple):
    """What one variant of an agent did."""

    id: str
    operator: str
    held: Held
    tools: Mapping[str, Sequence[Sequence[str]]]
    """By scenario: for each run, the tools that were called."""


async def ran(session: Session, mutant: Mutant | None, repeats: int, executor: Any) -> Ran:
    """Run a variant on each scenario; runs that are no evidence are left out."""
    held: dict[str, list[list[bool]]] = defaultdict(list)
    tools: dict[str, list[list[str]]] = defaultdict(list)
    free = asyncio.Semaphore(AT_ONCE)
    name = mutant.id if mutant else ""

    async def one(scenario: str, repeat: int) -> None:
        async with free:
            id_ = digest_of([name, scenario, repeat])[:16]
            execution = await executor.execute(TrialRequest(mutant, scenario, id_, repeat=repeat))
        result = session.tests.result(scenario, execution, None)
        if result.outcome.is_evidence:
            checks = [check.passed for check in result.checks]
            count = len(session.tests.evaluators[scenario])
            held[scenario].append(checks if len(checks) == count else [False] * count)
            tools[scenario].append(sorted(result.tools))

    jobs = (one(s.name, r) for s in session.scenarios for r in range(repeats))
    await asyncio.gather(*jobs)
    return Ran(name, mutant.operator if mutant else "", held, tools)


async def all_ran(session: Session, mutants: Sequence[Mutant], repeats: int) -> list[Ran]:
    """Run the original, three times as often as mutants, and the mutants."""
    executor = make_executor(session, 1)
    async with executor.session():
        original = await ran(session, None, repeats * (3 if mutants else 1), executor)
        return [original, *[await ran(session, mutant, repeats, executor) for mutant in mutants]]


def drawn(session: Session, most: int) -> tuple[Mutant, ...]:
    """Return a stratified sample of the degrading mutants, as `agentmut run --sample` draws it."""
    if not most:
        return ()
    return make_mutants(session, Selection(sample=most, intents=(Intent.DEGRADE,))).mutants


def write(project: Path, repeats: int, out: Path, mutants: int) -> None:
    """Run the project and write its runs. Ends the process with `NOT_BUILT` where the agent cannot be built."""
    try:
        session = open_session(load_project(project))
    except AgentmutError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(NOT_BUILT)
    found = asyncio.run(all_ran(session, drawn(session, mutants), repeats))
    out.write_text(json.dumps([one._asdict() for one in found]))


def write_in_a_fork(project: Path, repeats: int, out: Path, mutants: int) -> int:
    """Do what `write` does in a process that is forked from this one, and return its exit code.

    A fault is a patch of modules that are imported, so it has a process of its own. What all agents import is imported
    here, once.
    """
    for name in ("langchain_openai", "langgraph.prebuilt", "openai.resources.chat"):
        with suppress(ImportError):
            import_module(name)
    process = get_context("fork").Process(target=write, args=(project, repeats, out, mutants))
    process.start()
    process.join()
    return process.exitcode or 0
