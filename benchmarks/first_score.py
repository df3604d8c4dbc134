"""`python benchmarks/first_score.py`: the way of a new user, from a clone to the score of an agent of one's own.

The commands and the three files are those of the README. Prints each command with the seconds since the start.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = ("my_agent.py", "agentmut.yaml", "scenarios/first.yaml")
COMMANDS = (
    f"git clone --quiet {ROOT} agentmut",
    "python3 -m venv agentmut/.venv",
    "agentmut/.venv/bin/pip install --quiet -e agentmut",
    "agentmut/.venv/bin/agentmut run --yes --project mine",
)


def readme_files(readme: str) -> dict[str, str]:
    """Return the three files of the README for an agent of one's own. Raises `ValueError` for another number."""
    blocks = re.findall(r"```(?:python|yaml)\n(.*?)```", readme.partition("## Your own agent")[2], re.DOTALL)
    return dict(zip(MADE, blocks, strict=True))


def tried(folder: Path) -> None:
    """Carry the commands out in an empty folder. Raises `CalledProcessError` for one that fails."""
    begun = time.monotonic()
    for name, content in readme_files((ROOT / "README.md").read_text("utf-8")).items():
        (folder / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "mine" / name).write_text(content, "utf-8")
    for command in COMMANDS:
        done = subprocess.run(command.split(), cwd=folder, text=True, capture_output=True, check=True)
        print(f"{time.monotonic() - begun:6.0f} s  {command}", flush=True)
    print(done.stdout.partition("\n\n")[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        try:
            tried(Path(made))
        except subprocess.CalledProcessError as error:
            sys.exit(f"{' '.join(error.cmd)}: {error.stderr or error.stdout}")
