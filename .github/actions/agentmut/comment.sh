#!/usr/bin/env bash
# Puts a text on the pull request (GitHub) or merge request (GitLab) of this job, in the place of the one before.
# In: the file with the text. GitHub: `gh` with GH_TOKEN, GITHUB_REPOSITORY, PULL_REQUEST. GitLab: `curl` with AGENTMUT_TOKEN
# (a token with the scope api), CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID. A comment that cannot be written is
# a warning: it decides nothing. With DRY_RUN=true the requests are printed and not sent.
set -uo pipefail

marker='<!-- agentmut -->'
longest=60000  # bytes: both services have a limit, and refuse a longer text as a whole
body=$(mktemp)
{ printf '%s\n' "$marker"; head -c "$longest" -- "$1"; } > "$body"

sent() {  # a request, or what it would be
  if [ "${DRY_RUN:-false}" = true ]; then printf '%s\n' "$*"; else "$@"; fi
}

on_github() {
  local comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" found
  found=$(gh api "$comments" --paginate --jq ".[] | select(.body | startswith(\"$marker\")) | .id") || return 1
  found=${found%%$'\n'*}
  if [ -n "$found" ]; then
    sent gh api --silent -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$found" -F "body=@$body"
  else
    sent gh api --silent -X POST "$comments" -F "body=@$body"
  fi
}

on_gitlab() {
  local notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes" found
  local token; token=$(mktemp)
  printf 'header = "PRIVATE-TOKEN: %s"\n' "$AGENTMUT_TOKEN" > "$token"  # no argument: others may list those
  found=$(curl --silent --fail --config "$token" "$notes?per_page=100" | python -c '
import json, sys
for note in json.load(sys.stdin):
    if note["body"].startswith(sys.argv[1]):
        print(note["id"])
        break' "$marker") || return 1
  if [ -n "$found" ]; then
    sent curl --silent --fail --output /dev/null --config "$token" -X PUT "$notes/$found" --data-urlencode "body@$body"
  else
    sent curl --silent --fail --output /dev/null --config "$token" -X POST "$notes" --data-urlencode "body@$body"
  fi
}

if [ -n "${PULL_REQUEST:-}" ]; then
  on_github || echo "::warning title=agentmut::The comment could not be written. It needs the permission pull-requests: write, which pull requests of forks do not have."
elif [ -n "${CI_MERGE_REQUEST_IID:-}" ] && [ -n "${AGENTMUT_TOKEN:-}" ]; then
  on_gitlab || echo "agentmut: the comment could not be written. It needs AGENTMUT_TOKEN with the scope api." >&2
else
  echo "agentmut: no pull request, or no token: no comment is written." >&2
fi
