"""Write the text of a comment to stdout for a run that measured nothing.

In: the file with the JSON that `agentmut run` printed, and its exit code.
"""

import json
import sys
from pathlib import Path

MEANING = {
    "2": "the command or the project file is wrong",
    "4": "the agent or a service failed",
    "130": "it was stopped",
}
"""What these exit codes mean; docs/ci.md lists all of them."""


def failure_text(printed: str, code: str) -> str:
    """Return the message in a fence of indented lines, so that nothing in it is read as Markdown."""
    try:
        said = str(json.loads(printed).get("error") or "")
    except (ValueError, AttributeError):
        said = ""
    lines = said.splitlines() or ["The log of the job has the reason."]
    why = MEANING.get(code, "it ended early")
    return f"## agentmut: no result\n\nExit code {code}: {why}.\n\n" + "".join(
        f"    {line}\n" for line in lines
    )


if __name__ == "__main__":
    sys.stdout.write(failure_text(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2]))
