"""The commit that a figure was made from."""

import subprocess
from pathlib import Path


def commit() -> str:
    """Return the short name of HEAD; `unknown` outside of git."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
