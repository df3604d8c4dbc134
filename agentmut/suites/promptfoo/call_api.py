"""Call the function of a promptfoo Python provider: FILE FUNCTION INPUT ANSWER OPTIONS. It runs in any Python 3.

It imports the standard library alone: the provider may have an interpreter of its own, without agentmut. The input file
has promptfoo's prompt and context, and the answer file gets the provider's whole response, as JSON.
"""

import asyncio
import importlib.util
import inspect
import json
import sys
from pathlib import Path
from typing import Any


def main(file: str, function: str, asked: str, answer: str, options: str) -> int:
    """Write the provider's response; return 1 and print its error where it reports one."""
    sys.path.insert(0, str(Path(file).resolve().parent))
    spec = importlib.util.spec_from_file_location("provider", file)
    if spec is None or spec.loader is None:
        print(f"{file} is no Python file", file=sys.stderr)
        return 1
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    told = json.loads(Path(asked).read_text("utf-8"))
    found: Any = getattr(module, function)(told["prompt"], json.loads(options), told["context"])
    if inspect.isawaitable(found):
        found = asyncio.run(_awaited(found))
    response = found if isinstance(found, dict) and found.keys() & {"output", "error"} else {"output": found}
    if response.get("error"):
        print(response["error"], file=sys.stderr)
        return 1
    Path(answer).write_text(json.dumps(response), "utf-8")
    return 0


async def _awaited(found: Any) -> Any:
    return await found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
