"""What `agentmut.testing.check_adapter` looks at, by name."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import SERVICES, environ, nearest, one_line
from agentmut.conformance.adapters import conduct, mutant_arrival, trace_faults
from agentmut.conformance.adapters.observed_runs import ObservedRun, RunRequest, Subject, observe
from agentmut.simulator import Addresses, serve

_OF_A_RUN: Mapping[str, Callable[[Subject, ObservedRun], Iterator[str]]] = {
    "run": trace_faults.run_faults,
    "steps": trace_faults.step_faults,
    "answers": trace_faults.answer_faults,
    "arguments": trace_faults.argument_faults,
    "outputs": trace_faults.output_faults,
    "usage": trace_faults.usage_faults,
    "durations": trace_faults.duration_faults,
}
_BY_RUNS: Mapping[str, Callable[[Subject], Awaitable[list[str]]]] = {
    "fresh_state": conduct.freshness_faults,
    "concurrency": conduct.concurrency_faults,
    "errors": conduct.error_faults,
    "doubles": conduct.double_faults,
    "cancellation": conduct.cancellation_faults,
}
_CLASSES = {f"mutation.{one}": one for one in mutant_arrival.CLASSES}
FAREWELL = 0.05
"""Seconds in which clients that outlive the event loop notice that the simulator has hung up."""
CHECKS = ("config", *_OF_A_RUN, *_BY_RUNS, *_CLASSES)
"""The names of the checks, as `except_for` takes them."""


def check_names(only: Collection[str], except_for: Mapping[str, str]) -> None:
    """Raise `ValueError` for an unknown check, one that is left out, or an expected failure without a reason."""
    for name in only:
        if name not in CHECKS:
            raise ValueError(f"only: there is no check {name!r}. {nearest(name, CHECKS)}")
    for name, reason in except_for.items():
        if name not in only:
            raise ValueError(f"except_for: there is no check {name!r} to make. {nearest(name, only)}")
        if not reason.strip():
            raise ValueError(f"except_for: say why {name!r} is expected to fail")


class Findings(NamedTuple):
    """The findings of an adapter check."""

    faults: Mapping[str, list[str]]
    """What is wrong, by the name of the check; those with faults are there."""
    support: Mapping[str, mutant_arrival.Support] = MappingProxyType({})
    """What became of mutants, by operator class."""


async def adapter_findings(subject: Subject, only: Collection[str]) -> Findings:
    """Return the faults of the checks in `only`, and which mutants arrive."""
    found: dict[str, list[str]] = {}
    support: dict[str, mutant_arrival.Support] = {}
    if "config" in only:
        found["config"] = _collected(partial(mutant_arrival.config_faults, subject))
    [base] = await observe(subject, RunRequest("base"))
    found["run"] = _collected(partial(trace_faults.run_faults, subject, base))
    if not found["run"]:  # else what follows from that would only hide it
        found |= {n: _collected(partial(c, subject, base)) for n, c in _OF_A_RUN.items() if n in only}
        found |= {name: await _awaited(check(subject)) for name, check in _BY_RUNS.items() if name in only}
        faults, support = await _mutation_faults(subject, only)
        found |= faults
    return Findings({name: faults for name, faults in found.items() if faults}, support)


async def _mutation_faults(
    subject: Subject, only: Collection[str]
) -> tuple[dict[str, list[str]], dict[str, mutant_arrival.Support]]:
    wanted = {name: one for name, one in _CLASSES.items() if name in only}
    if not wanted:
        return {}, {}
    try:
        faults, support = await mutant_arrival.mutation_faults(subject, tuple(wanted.values()))
    except Exception as error:
        return {name: [f"it raised {one_line(error)}"] for name in wanted}, {}
    return {name: faults[one] for name, one in wanted.items()}, support


def unexpected(faults: Mapping[str, list[str]], except_for: Mapping[str, str]) -> Iterator[str]:
    """Yield unexpected faults, and expected faults that no longer occur."""
    for name in CHECKS:
        if name not in except_for:
            yield from (f"{name}: {fault}" for fault in faults.get(name, ()))
        elif name not in faults and "run" not in faults:
            yield f"{name}: expected to fail ({except_for[name]}), but it holds: leave it out of except_for"


def _collected(check: Callable[[], Iterator[str]]) -> list[str]:
    try:
        return list(check())
    except Exception as error:  # whatever an adapter under check raises is its fault
        return [f"it raised {one_line(error)}"]


async def _awaited(check: Awaitable[list[str]]) -> list[str]:
    try:
        return await check
    except Exception as error:
        return [f"it raised {one_line(error)}"]


@asynccontextmanager
async def endpoint() -> AsyncIterator[None]:
    """Provide the model services that the environment names, and the simulator for the other ones."""
    async with serve() as url:
        with environ(_missing(Addresses.found_at(url).environment)):
            yield
    await asyncio.sleep(FAREWELL)


def _missing(simulated: Mapping[str, str]) -> dict[str, str]:
    """Return the simulator's variables of those services that the environment does not lead elsewhere.

    A key that is for other services too (AWS) is left as it is where there is one.
    """
    found: dict[str, str] = {}
    for service in SERVICES:
        if any(os.environ.get(name) for name in (*service.variables, *service.shared)):
            continue
        names = {*service.variables, *service.keys, *service.settings}
        kept = {name for name in names if service.shared and os.environ.get(name)}
        found |= {name: value for name, value in simulated.items() if name in names - kept}
    return found
