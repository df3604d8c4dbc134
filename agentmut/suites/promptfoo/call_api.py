"""Call the function of a promptfoo Python provider: FILE FUNCTION INPUT ANSWER OPTIONS. It runs in any Python 3.

It imports the standard library alone: the provider may have an interpreter of its own, without agentmut.
"""

import asyncio
import importlib.util
import inspect
import json
import sys
from pathlib import Path
from typing import Any


def main(file: str, function: str, asked: str, answer: str, options: str) -> int:
    """Write the provider's output; return 1 and print its error where it reports one."""
    sys.path.insert(0, str(Path(file).resolve().parent))
    spec = importlib.util.spec_from_file_location("provider", file)
    if spec is None or spec.loader is None:
        print(f"{file} is no Python file", file=sys.stderr)
        return 1
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    prompt = Path(asked).read_text("utf-8")
    found: Any = getattr(module, function)(prompt, json.loads(options), {"vars": {}})
    if inspect.isawaitable(found):
        found = asyncio.run(_awaited(found))
    if isinstance(found, dict) and found.get("error"):
        print(found["error"], file=sys.stderr)
        return 1
    output = found.get("output") if isinstance(found, dict) else found
    Path(answer).write_text(output if isinstance(output, str) else json.dumps(output), "utf-8")
    return 0


async def _awaited(found: Any) -> Any:
    return await found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
