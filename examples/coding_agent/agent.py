"""A small coding agent: a loop of model calls and tools over the folder that it is started in.

It reads its instructions there: AGENTS.md always, and a skill where the task names it.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

STEPS = 8
"""Model calls at most."""


def run_tests() -> str:
    """Run the tests of the repository."""
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], capture_output=True, text=True, check=False
    )
    return "the tests pass" if done.returncode == 0 else f"the tests fail: {done.stderr[-400:]}"


def raise_version(version: str) -> str:
    """Raise the version in the file VERSION."""
    Path("VERSION").write_text(f"{version}\n")
    return f"VERSION is {version}"


def add_note(note: str) -> str:
    """Add a note to the changelog."""
    log = Path("CHANGELOG.md")
    log.write_text(f"{log.read_text()}- {note}\n")
    return "the changelog has the note"


def delete_file(path: str) -> str:
    """Delete a file of the repository."""
    Path(path).unlink()
    return f"{path} is deleted"


PARAMETERS = {"version": "The new version.", "note": "What has changed.", "path": "The path of the file."}
TOOLS = {tool.__name__: tool for tool in (run_tests, raise_version, add_note, delete_file)}


def instructions(task: str) -> str:
    """Return AGENTS.md, and each skill whose name the task has."""
    skills = [path for path in sorted(Path("skills").glob("*/SKILL.md")) if path.parent.name in task.lower()]
    files = [Path("AGENTS.md"), *skills]
    return "\n\n".join(path.read_text() for path in files if path.exists())


def offered(tool: Any) -> dict[str, Any]:
    """Return a tool as the model is told of it; all parameters are texts."""
    names = [name for name in tool.__annotations__ if name != "return"]
    properties = {name: {"type": "string", "description": PARAMETERS[name]} for name in names}
    schema = {"type": "object", "properties": properties, "required": names}
    return {
        "type": "function",
        "function": {"name": tool.__name__, "description": tool.__doc__, "parameters": schema},
    }


def ask(messages: list[Any]) -> dict[str, Any]:
    """Return the model's next message."""
    body = {"model": "sim-large", "messages": messages, "tools": [offered(tool) for tool in TOOLS.values()]}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request) as reply:
        message: dict[str, Any] = json.load(reply)["choices"][0]["message"]
    return message


def work(task: str) -> str:
    """Carry a task out, and return the answer."""
    messages: list[Any] = [
        {"role": "system", "content": instructions(task)},
        {"role": "user", "content": task},
    ]
    for _ in range(STEPS):
        message = ask(messages)
        messages.append(message)
        for call in message.get("tool_calls") or ():
            wanted = call["function"]
            result = TOOLS[wanted["name"]](**json.loads(wanted["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if not message.get("tool_calls"):
            return str(message["content"])
    return "I have not come to an end."


if __name__ == "__main__":
    print(work(sys.argv[1]))
