"""An agent that does one thing of your choice at its 25th run, in the process of agentmut, after a sound baseline."""

import subprocess
from pathlib import Path

from tests.warm_command import run_agentmut

PROJECT = """
version: 1
agent: {adapter: python, run: "my_agent:run", config: {prompt: "Always greet the user. Be brief."}}
suite: {scenarios: s.yaml}
mutation: {operators: [prompt.drop_instruction]}
execution: {isolate: task}
"""
AGENT = """
DEFINITIONS

count = 0

async def run(config, input):
    global count
    count += 1
    if count == 25:
        CALL
    return "hello" if "greet" in config.prompt else "hm"
"""


def write_late_agent(folder: Path, call: str, definitions: str = "") -> None:
    """Write a project whose agent makes the call at its 25th run."""
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    (folder / "my_agent.py").write_text(AGENT.replace("DEFINITIONS", definitions).replace("CALL", call))


def run_late_agent(
    folder: Path, call: str, definitions: str = "", **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Write the project and run its mutants."""
    write_late_agent(folder, call, definitions)
    return run_agentmut(folder, "run", "--yes", "--json", **variables)
