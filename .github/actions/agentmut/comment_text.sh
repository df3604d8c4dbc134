#!/usr/bin/env bash
# Writes the text of a comment to stdout: what changed since the latest finished run before, or else the report.
# In: the project, and the id of the run.
set -uo pipefail

before=$(python - "$1" "$2" <<'PYTHON'
import json, pathlib, sys

project = pathlib.Path(sys.argv[1])
root = project if project.is_dir() else project.parent
results = sorted((root / ".agentmut" / "runs").glob("*/result.json"), reverse=True)
earlier = (path for path in results if path.parent.name < sys.argv[2])
finished = (path.parent.name for path in earlier if json.loads(path.read_bytes())["status"] == "finished")
print(next(finished, ""))
PYTHON
)
agentmut report "$2" --project "$1" ${before:+--compare "$before"} --format markdown
