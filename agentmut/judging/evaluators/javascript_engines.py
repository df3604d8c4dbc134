"""Engines that evaluate a JavaScript condition: V8 in this process, or the node that is installed."""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

SECONDS = 0.1
"""Most time of one condition, as in Cerberus."""
STARTING = 10.0
"""Seconds that node may take besides, to start and to end."""
INSTALL = "pip install 'agentmut[cerberus]'"
IN_NODE = """
const code = require('fs').readFileSync(0, 'utf8');
const told = (value) => process.stdout.write(JSON.stringify(value));
try {
  told({ value: Boolean(require('vm').runInNewContext(code, Object.create(null), { timeout: LIMIT })) });
} catch (error) {
  told({ error: error && error.name ? `${error.name}: ${error.message}` : String(error) });
}
"""


class ScriptError(Exception):
    """What a script raised, or that it took too long."""


class Engine(Protocol):
    """Evaluates scripts."""

    def is_true(self, script: str) -> bool:
        """Return whether the script's value is true. Raises `ScriptError`."""
        ...


def installed_engine() -> Engine:
    """Return mini-racer, else node. Raises `ValueError` where neither is installed."""
    try:
        from py_mini_racer import JSEvalException, MiniRacer
    except ImportError:
        node = shutil.which("node")
        if node is None:
            raise ValueError(
                f"needs mini-racer or node, and neither is installed here. Run: {INSTALL}"
            ) from None
        return NodeEngine(node)
    # made in a thread, where no event loop runs: with one that runs it would be bound, and refuse a time limit
    with ThreadPoolExecutor(1) as thread:
        racer = thread.submit(MiniRacer).result()
    return MiniRacerEngine(racer, JSEvalException)


class MiniRacerEngine:
    """V8 in this process; a script has access to nothing else."""

    def __init__(self, racer: Any, error: type[Exception]) -> None:
        self._racer = racer
        self._error = error

    def is_true(self, script: str) -> bool:
        """Return whether the script's value is true. Raises `ScriptError`."""
        try:
            return bool(self._racer.eval(script, timeout_sec=SECONDS))
        except self._error as error:
            raise ScriptError(_last_line(str(error)) or type(error).__name__) from error


class NodeEngine:
    """A node process for each script, which has its own empty context and no environment but the path."""

    def __init__(self, node: str) -> None:
        self._node = node

    def is_true(self, script: str) -> bool:
        """Return whether the script's value is true. Raises `ScriptError`."""
        try:
            done = subprocess.run(
                [self._node, "-e", f"const LIMIT = {round(1000 * SECONDS)};{IN_NODE}"],
                input=script,
                capture_output=True,
                encoding="utf-8",
                timeout=SECONDS + STARTING,
                env={"PATH": os.environ.get("PATH", "")},
                check=False,
            )
            answer = json.loads(done.stdout)
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            raise ScriptError(f"{self._node} did not answer: {error}") from error
        if "error" in answer:
            raise ScriptError(_last_line(answer["error"]))
        return bool(answer["value"])


def _last_line(text: str) -> str:
    """Return the line of a message that names the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "Error: " in line and not line.startswith("at ")]
    return (told or lines or [""])[-1]
