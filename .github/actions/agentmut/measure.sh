#!/usr/bin/env bash
# Runs the campaign, writes the step's outputs and summary, and leaves with the exit code of the decision.
# In: PROJECT, ARGUMENTS (one a line), GATE, FAIL_ON_MANUAL; GITHUB_OUTPUT and GITHUB_STEP_SUMMARY name files.
set -uo pipefail

for name in GATE FAIL_ON_MANUAL; do  # a typing error must not switch a gate off
  case "${!name}" in
    true | false) ;;
    *) echo "agentmut: $name is true or false, got '${!name}'." >&2; exit 2 ;;
  esac
done

# The log holds what models wrote, and the runner obeys lines of it that begin with "::": not until this word is said.
word=$(python -c 'import secrets; print(secrets.token_hex(16))') || exit 2
echo "::stop-commands::$word"

given=(--project "$PROJECT" --yes)
if [ "$GATE" = true ]; then given+=(--gate); fi
while IFS= read -r argument; do
  if [ -n "$argument" ]; then given+=("$argument"); fi
done <<< "$ARGUMENTS"

found=$(mktemp)
agentmut run "${given[@]}" --json > "$found"
code=$?

# Values come from a file of ours, yet a report holds what models wrote: one line each, so that none starts another.
python - "$found" "$code" >> "$GITHUB_OUTPUT" <<'PYTHON'
import json, sys

try:
    document = json.load(open(sys.argv[1], encoding="utf-8"))
except ValueError:
    document = {}
gate = document if document.get("kind") == "gate" else document.get("gate") or {}
score = (document.get("score") or {}).get("value")
print("decision=" + str(gate.get("decision", "")).split("\n")[0])
print("score=" + ("" if score is None else f"{score:.4f}"))
print("exit-code=" + sys.argv[2])
PYTHON

text=$(mktemp)
run=$(python -c 'import json, sys; print(json.load(open(sys.argv[1])).get("run_id", ""))' "$found" 2> /dev/null)
if [ -n "$run" ]; then
  agentmut report "$run" --project "$PROJECT"
  agentmut report "$run" --project "$PROJECT" --format markdown >> "$GITHUB_STEP_SUMMARY"
  comment=$(mktemp)
  bash "$GITHUB_ACTION_PATH/comment_text.sh" "$PROJECT" "$run" > "$comment" && echo "comment=$comment" >> "$GITHUB_OUTPUT"
else  # nothing was measured: the pull request is told why
  comment=$(mktemp)
  python "$GITHUB_ACTION_PATH/failure_text.py" "$found" "$code" > "$comment" && echo "comment=$comment" >> "$GITHUB_OUTPUT"
  cat "$comment" >> "$GITHUB_STEP_SUMMARY"
fi
if [ "$GATE" = true ] && [ "$code" -ne 2 ] && [ "$code" -le 3 ]; then
  agentmut gate ${run:+"$run"} --project "$PROJECT" > "$text"
  cat "$text"
  {  # the fence is longer than any run of backticks in the text
    printf '\n## Gate\n\n``````````text\n'
    sed 's/``````````/?/g' "$text"
    printf '``````````\n'
  } >> "$GITHUB_STEP_SUMMARY"
fi

echo "::$word::"
if [ "$code" -eq 3 ] && [ "$FAIL_ON_MANUAL" != true ]; then
  echo "::warning title=agentmut::Not enough evidence to decide: a person has to look."
  exit 0
fi
exit "$code"
