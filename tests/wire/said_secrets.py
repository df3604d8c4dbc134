"""What the tests of leaks share: projects whose agents, models and tools say secrets, and the files of their verbs."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage

AGAIN = 9
"""Texts in an answer of the model."""
CALLED = """
import json, sys
from pathlib import Path
from agentmut.cli import main

def called(*arguments):
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in (0, 1, 2, 3, 4), (arguments, ended.code)
"""
"""The head of a program of verbs: `called` gives the command and checks its exit code."""


def saying(file: str, count: int, between: str) -> str:
    """Return the head of a module whose `some` returns the next `count` texts of the JSON file beside it."""
    return f"""
import itertools, json, pathlib
TEXTS = json.loads((pathlib.Path(__file__).parent / {file!r}).read_text())
TURN = itertools.count()

def some(count={count}):
    place = next(TURN) * count
    return {between!r}.join(TEXTS[(place + i) % len(TEXTS)] for i in range(count))
"""


def program_that_says(head: str) -> str:
    """Return a program for `adapter: command` that says the texts of `saying` on both streams."""
    return f"""{head}
import os, sys
TURN = itertools.count(os.getpid())
print(some(), file=sys.stderr)
print("kind", sys.stdin.read(), some())
"""


def project_file(agent: str, *, trials: int, timeout: int, secrets: str = "") -> str:
    """Return `agentmut.yaml` for an agent, which is given as its adapter and what it runs."""
    return f"""
version: 1
agent:
  {agent}
  config: {{prompt: "- Be kind.\\n- Never shout.", model: {{name: sim-large}}}}
suite: {{scenarios: scenarios.yaml, threshold: 0.5}}
mutation: {{operators: [prompt.drop_instruction]}}
statistics: {{baseline: 12, n_max: 10, seed: 1, rounds: one}}
budget: {{trials: {trials}}}
execution: {{record: true, concurrency: 4, retries: 0, timeout: {timeout}}}
{secrets}"""


def agents(name: str) -> dict[str, str]:
    """Return the agents that a module and a program of this name make, as `project_file` takes them."""
    return {
        "in_process": f"adapter: python\n  run: {name}:run",
        "command": f"adapter: command\n  command: [{sys.executable}, -S, -E, {name}_program.py]",
    }


def model_that_says(texts: Sequence[str], between: str) -> Callable[[ModelRequest], ModelReply]:
    """Return a model that answers each request with the next of the texts."""
    turns = iter(range(10**6))

    def reply(request: ModelRequest) -> ModelReply:
        place = next(turns) * AGAIN
        text = between.join(texts[(place + i) % len(texts)] for i in range(AGAIN))
        return ModelReply(model=request.model, text=text, usage=Usage(input_tokens=7, output_tokens=3))

    return reply


def write_files(folder: Path, files: dict[str, str]) -> set[str]:
    """Write a project's own files. Return their names."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return set(files)


def written_files(folder: Path, own: set[str]) -> dict[str, bytes]:
    """Return the files under the folder that are not the project's own, by their path in the folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if path.name not in own and path.suffix != ".pyc")
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}
