"""Start the real promptfoo so that it only reports to agentmut: no cache, no database, no telemetry."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import CaseError
from agentmut.adapters import Launch, Output
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings

HERE = Path(__file__).parent
OFF = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_ADAPTIVE_SCHEDULER": "1",  # it would slow all down after an agent's errors
    "PROMPTFOO_CACHE_ENABLED": "false",
}
_FLAGS = ("--no-cache", "--no-write", "--no-share", "--no-table", "--no-progress-bar", "--repeat", "1")
OUTPUT = "output.json"
TOLD = 600
"""Characters of its last words that an error says."""
_ERROR = re.compile(r"(Error|Exception): |^error: ")


class Place(NamedTuple):
    """Where promptfoo is installed, and where it is started."""

    command: tuple[str, ...]
    root: str


def launch(
    settings: PromptfooSettings, place: Place, folder: Path, slots: Sequence[str], at_once: int
) -> Launch:
    """Return how one evaluation is started, with the files `slots` in `folder` in place of the config's providers."""
    arguments = (
        *place.command, "eval", "-c", str(Path(place.root, settings.path).resolve()),
        "-r", *(f"file://{folder / slot}" for slot in slots),
        *_FLAGS, "-j", str(at_once), "-o", str(folder / OUTPUT), *settings.filters,
    )  # fmt: skip
    return Launch(arguments, Path(place.root), environment(os.environ, folder))


def environment(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment of promptfoo: its memory and reports are kept in `folder`, or not at all."""
    own = {"PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"), "PROMPTFOO_LOG_DIR": str(folder / "logs")}
    preload = f"--require {json.dumps(str(HERE / 'quiet.cjs'))}"
    options = " ".join(filter(None, (preload, variables.get("NODE_OPTIONS", ""))))
    direct = ",".join(
        filter(None, (variables.get("NO_PROXY") or variables.get("no_proxy"), "promptfoo.app,promptfoo.dev"))
    )
    return {**variables, **OFF, **own, "NODE_OPTIONS": options, "NO_PROXY": direct, "no_proxy": direct}


def written(folder: Path, stderr: bytes, code: int | None) -> dict[str, Any]:
    """Return the output of an evaluation. Raise `CaseError` with promptfoo's last words if there is none."""
    try:
        found = json.loads((folder / OUTPUT).read_text("utf-8"))
        if isinstance(found["results"]["results"], list):
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    words = _words(stderr.decode("utf-8", "replace"))
    raise CaseError(f"promptfoo ended with code {code} and without results. It says: {words or 'nothing'}")


def _words(text: str) -> str:
    """Return what a program wrote about its last error, without the call stack; else its last words."""
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("at ")]
    errors = [number for number, line in enumerate(lines) if _ERROR.search(line)]
    words = " ".join(" ".join(lines[errors[-1] if errors else 0 :]).split())
    return words[:TOLD] if errors else words[-TOLD:]


def last_words(output: Output) -> bytes:
    """Return the last output of a program, errors first, since messages keep the end."""
    return bytes(output.stdout) + b" " + bytes(output.stderr)
