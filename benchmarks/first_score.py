"""`python benchmarks/first_score.py [AGENT]...`: a new user's way from a clone to the score of an own agent.

An agent is `readme` (the function in the README), or a folder of `benchmarks/first_agents`.
Without an argument all three are tried. Prints each command with the seconds since the start.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = ("my_agent.py", "agentmut.yaml", "scenarios/first.yaml")
OWN = Path(__file__).parent / "first_agents"
EXTRAS = {"readme": "", "openai_function": "[openai]", "langgraph": "[langgraph]"}
SIMULATED = "simulate --alias gpt-5.2=sim-large -- agentmut/.venv/bin/agentmut "


def commands(agent: str) -> tuple[str, ...]:
    """Return the commands in their order. An agent that asks a model asks the simulated one, which needs no key."""
    return (
        f"git clone --quiet {ROOT} agentmut",
        "python3 -m venv agentmut/.venv",
        f"agentmut/.venv/bin/pip install --quiet -e ./agentmut{EXTRAS[agent]}",
        f"agentmut/.venv/bin/agentmut {SIMULATED if EXTRAS[agent] else ''}run --yes --project mine",
    )


def files_of(agent: str) -> dict[str, str]:
    """Return the files that the user writes: the README's, or those of the agent's folder."""
    if agent == "readme":
        return readme_files((ROOT / "README.md").read_text("utf-8"))
    files = [path for path in sorted((OWN / agent).rglob("*")) if path.suffix in (".py", ".yaml")]
    return {str(path.relative_to(OWN / agent)): path.read_text("utf-8") for path in files}


def readme_files(readme: str) -> dict[str, str]:
    """Return the three files of the README for an agent of one's own. Raises `ValueError` for another number."""
    blocks = re.findall(r"```(?:python|yaml)\n(.*?)```", readme.partition("## Your own agent")[2], re.DOTALL)
    return dict(zip(MADE, blocks, strict=True))


def tried(agent: str, folder: Path) -> None:
    """Carry the commands out in an empty folder. Raises `CalledProcessError` for one that fails."""
    begun = time.monotonic()
    for name, content in files_of(agent).items():
        (folder / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "mine" / name).write_text(content, "utf-8")
    for command in commands(agent):
        done = subprocess.run(command.split(), cwd=folder, text=True, capture_output=True, check=True)
        print(f"{time.monotonic() - begun:6.0f} s  {command}", flush=True)
    print(done.stdout.partition("\n\n")[0])


def main(agents: list[str]) -> None:
    """Try each agent in a folder of its own, which is removed. Exits with the message of a command that fails."""
    for agent in agents or EXTRAS:
        print(f"{agent}:")
        with tempfile.TemporaryDirectory() as made:
            try:
                tried(agent, Path(made))
            except subprocess.CalledProcessError as error:
                sys.exit(f"{' '.join(error.cmd)}: {error.stderr or error.stdout}")


if __name__ == "__main__":
    main(sys.argv[1:])
