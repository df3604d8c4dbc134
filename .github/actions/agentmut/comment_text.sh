#!/usr/bin/env bash
# Writes the text of a comment to stdout: what changed since the run before, or the report where there is none.
# In: the project, and the id of the run.
set -uo pipefail

before=$(python - "$1" "$2" <<'PYTHON'
import pathlib, sys

project = pathlib.Path(sys.argv[1])
root = project if project.is_dir() else project.parent
runs = sorted(path.parent.name for path in (root / ".agentmut" / "runs").glob("*/result.json"))
print(next((run for run in reversed(runs) if run < sys.argv[2]), ""))
PYTHON
)
agentmut report "$2" --project "$1" ${before:+--compare "$before"} --format markdown
