"""The same operator in other processes, where strings hash otherwise: an order taken from a set differs there."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agentmut._base import digest_of
from agentmut.conformance.operators.candidate_faults import candidates_or_fault
from agentmut.nouns import AgentConfig
from agentmut.seams import Operator, OperatorOptions

SEEDS = ("1", "2")
PATIENCE = 120
"""Seconds for all processes together."""


class TriedConfig(NamedTuple):
    """A config that an operator is tried on, and what it may draw on."""

    config: AgentConfig
    options: OperatorOptions


def order_faults(
    work: Iterable[tuple[type[Operator], Sequence[TriedConfig]]], seeds: Sequence[str] = SEEDS
) -> Iterator[str]:
    """Yield operators that give other mutants, or another order, where strings hash otherwise: with each of `seeds`.

    Those that cannot be imported by module and name, as from inside a function, are left out without a word; so is
    everything where no other process can be run.
    """
    checked = [(operator, tried) for operator, tried in work if _is_importable(operator)]
    here = [[_digest(operator, one) for one in tried] for operator, tried in checked]
    asked = json.dumps([_task_document(operator, tried) for operator, tried in checked])
    answers = _answers(asked, seeds) if checked else []
    for number, (operator, tried) in enumerate(checked):
        for place in range(len(tried)):
            others = {there[number][place] for there in answers}
            if here[number][place] and others - {here[number][place], ""}:
                yield (
                    f"config {place + 1}: {operator.id} gave other mutants, or another order, in another process. "
                    "The order of a set of texts differs there: sort it, or use dict.fromkeys"
                )
                break


def _is_importable(operator: type[Operator]) -> bool:
    found: Any = sys.modules.get(operator.__module__) if operator.__module__ != "__main__" else None
    for part in operator.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is operator


def _task_document(operator: type[Operator], tried: Sequence[TriedConfig]) -> list[Any]:
    plain = [[one.config.model_dump(mode="json"), one.options.model_dump(mode="json")] for one in tried]
    return [operator.__module__, operator.__qualname__, plain]


def _digest(operator: type[Operator], tried: TriedConfig) -> str:
    """Return the digest of an operator's candidates; empty where it fails, which another check reports."""
    found = candidates_or_fault(operator(), tried.config, tried.options)
    if isinstance(found, str):
        return ""
    return digest_of([candidate.model_dump(mode="json") for candidate in found])


def _answers(asked: str, seeds: Sequence[str]) -> list[list[list[str]]]:
    running = [_started(seed) for seed in seeds]
    found = []
    try:
        for process in running:
            printed, _ = process.communicate(asked, timeout=PATIENCE)
            if process.returncode == 0:
                found.append(json.loads(printed.rpartition("\n")[2]))
    except subprocess.TimeoutExpired:
        return []
    finally:
        for process in running:
            process.kill()
            process.wait()
    return found


def _started(seed: str) -> subprocess.Popen[str]:
    """Return a process that knows the same modules and hashes with `seed`."""
    variables = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import answer; answer()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables,
    )  # fmt: skip


def answer() -> None:
    """Read the question in the other process, and write the digests as the last line."""
    import importlib

    digests = []
    for module, name, plain in json.load(sys.stdin):
        operator: Any = importlib.import_module(module)
        for part in name.split("."):
            operator = getattr(operator, part)
        tried = [
            TriedConfig(AgentConfig.model_validate(c), OperatorOptions.model_validate(o)) for c, o in plain
        ]
        digests.append([_digest(operator, one) for one in tried])
    sys.stdout.write("\n" + json.dumps(digests))
