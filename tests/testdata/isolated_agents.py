"""Agents for `isolate: process`: imported by worker processes, so they live in a module."""

import asyncio
import builtins
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from agentmut import tool
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.project.schema import Price
from agentmut.trial.executor import Executor, LocalExecutor, RunSettings
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case
from agentmut.trial.suite_config import SuiteConfig

PATIENT = 600.0
"""Seconds of a trial that ends by itself."""


def run(config: AgentConfig, given: Any) -> Any:
    """Do what the user says."""
    what, _, argument = str(given).partition(" ")
    if what == "spin":
        while True:
            pass
    if what == "sleep":
        time.sleep(60)
    if what == "exit":
        os._exit(3)
    if what == "killed":
        os.kill(os.getpid(), 9)
    if what == "child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        Path(argument).write_text(f"{os.getpid()} {child.pid}")
        time.sleep(60)
    return f"{config.prompt} {given} {os.getpid()}"


async def block(config: AgentConfig, given: Any) -> Any:
    """An async agent that blocks its event loop."""
    if str(given) == "block":
        time.sleep(60)
    await asyncio.sleep(0)
    return f"{given} {os.getpid()}"


async def seize(config: AgentConfig, given: Any) -> Any:
    """An async agent that stops the event loop of its worker."""
    if str(given) == "stop":
        asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    return given


async def spoil(config: AgentConfig, given: Any) -> Any:
    """An async agent that takes from its worker what the worker needs."""
    if str(given) == "len":
        vars(builtins)["len"] = lambda _: 0
    if str(given) == "modules":
        sys.modules.clear()
    if str(given) == "long":
        write_into_pipes(b"\x7f" * 4)  # the beginning of a word of two gigabytes
    if str(given) == "other":
        write_into_pipes(b"\0\0\0\1?")  # a word that no pickle is
    await asyncio.sleep(0)
    return given


def write_into_pipes(text: bytes) -> None:
    """Write into each socket of the process, of which one leads to agentmut."""
    for file in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if str(file.readlink()).startswith("socket:"):
                os.write(int(file.name), text)


async def wait(config: AgentConfig, given: Any) -> Any:
    """An async agent that blocks its event loop until the model answers at the address."""
    with httpx.Client(trust_env=False) as client:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        return client.post(str(given), json=body, timeout=60).text


@tool
def look_up(order: str) -> dict[str, str]:
    """A tool whose results are lost."""
    return {"id": order}


def look_ups(config: AgentConfig, given: Any) -> Any:
    """Ask the tool."""
    return f"found {look_up(given)}"


def keep_the_lock(scenario: Scenario) -> None:
    """A hook that lets Python run nothing else, for the scenario `stuck`."""
    if scenario.name == "stuck":
        re.match("^(a+)+$", "a" * 41 + "!")


def hooked(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    """An agent whose scenarios have such a setup."""
    return executor(run, turns, setup=keep_the_lock, timeout=timeout)


def tear_down(scenario: Scenario) -> None:
    """A teardown that lets Python run nothing else, or that ends the process."""
    if scenario.name == "stuck":
        re.match("^(a+)+$", "a" * 41 + "!")
    if scenario.name == "exit":
        os._exit(3)


def torn_down(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    """An agent that answers, whose scenarios have such a teardown."""
    return executor(wise, turns, teardown=tear_down, timeout=timeout)


def wise(config: AgentConfig, given: Any) -> Any:
    """Answer."""
    return given


async def asking_hook(scenario: Scenario) -> None:
    """Ask the model at the address in the environment; then block the loop for the scenario `setup`."""
    async with httpx.AsyncClient(trust_env=False) as client:
        body = {"model": "sim-large", "messages": [{"role": "user", "content": "prepare"}]}
        await client.post(os.environ["MODEL"], json=body)
    if scenario.name == "setup":
        time.sleep(60)


async def end(config: AgentConfig, given: Any) -> Any:
    """An async agent that blocks its event loop, or ends the process."""
    if str(given) == "block":
        time.sleep(60)
    os._exit(3)


def asking(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    """The agent `end`, whose scenarios have a setup that asks a model and may take its time."""
    return executor(end, turns, setup=asking_hook, timeout=max(timeout, 60))


def executor(
    function: Any,
    turns: tuple[str, ...],
    *tools: ToolSpec,
    setup: Any = None,
    teardown: Any = None,
    timeout: float = PATIENT,
) -> Executor:
    scenarios = [Scenario(name=turn, turns=(turn,), evaluators=(EvaluatorSpec(name="x"),)) for turn in turns]
    config = AgentConfig(prompt="p", tools=tools)
    return LocalExecutor(
        CallableAdapter(function, config),
        SuiteConfig(config, scenarios),
        {scenario.name: Case(scenario, {}, setup, teardown) for scenario in scenarios},
        Pricer({"sim-large": Price(input=1.0, output=2.0)}),
        RunSettings(timeout=timeout),
    )


def slow_to_import(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    time.sleep(2)  # longer than the trial's timeout and the margin together
    return executor(run, turns, timeout=timeout)


def noting(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    """Notes in a file when its start begins and ends."""
    with Path(os.environ["STARTS"]).open("a") as notes:
        notes.write("begins\n")
    time.sleep(0.3)
    with Path(os.environ["STARTS"]).open("a") as notes:
        notes.write("ends\n")
    return executor(run, turns, timeout=timeout)


def held_back(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    """The first worker starts; the start of all others hangs."""
    try:
        Path(os.environ["STARTS"]).touch(exist_ok=False)
    except FileExistsError:
        time.sleep(PATIENT)
    return executor(run, turns, timeout=timeout)


def broken(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    raise ImportError("no module named shop")


def faulty(turns: tuple[str, ...], timeout: float = PATIENT) -> Executor:
    """An agent whose tool finds nothing."""
    lost = ToolSpec(name="look_up", fault=ToolFault(kind=FaultKind.EMPTY))
    return executor(look_ups, turns, lost, timeout=timeout)


def making(name: str, turns: tuple[str, ...], timeout: float = PATIENT) -> Any:
    """What a `ProcessExecutor` takes: the name of one of these functions."""
    agents = {"run": run, "block": block, "wait": wait, "seize": seize, "spoil": spoil}
    if name in agents:
        return partial(executor, agents[name], turns, timeout=timeout)
    makers = {
        "slow_to_import": slow_to_import,
        "noting": noting,
        "held_back": held_back,
        "broken": broken,
        "faulty": faulty,
        "hooked": hooked,
        "torn_down": torn_down,
        "asking": asking,
    }
    return partial(makers[name], turns, timeout=timeout)
