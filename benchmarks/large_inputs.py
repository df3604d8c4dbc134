"""Projects with large things in them, for `benchmarks/sizes.py`: replies, prompts, earlier revisions, recorded runs."""

import re
import subprocess
import uuid
from hashlib import sha256
from pathlib import Path

TRACES = Path(__file__).resolve().parent.parent / "tests" / "testdata" / "traces"
FORMATS = ("langfuse", "langsmith", "mlflow", "openinference_langchain")
"""Files of recorded runs, one a format that is a row or a span a line."""
IDS = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{16})(?![0-9a-f])"
)
REPLIES = """
import json

ROWS = [
    {{"order": f"W{{1000 + i}}", "row": i, "status": ["shipped", "late"][i % 2],
     "note": f"Paid {{i}}.50 on 2026-01-1{{i % 10}}"}}
    for i in range({kilobytes} * 1000 // 78)
]
TEXT = json.dumps({{"said": "yes", "orders": ROWS}})

async def run(config, input):
    return TEXT if config.prompt else "no"

def judge(trace):
    return "W1001" in trace.text

def langsmith_style(inputs, outputs):
    return {{"key": "said", "score": "W1001" in str(outputs)}}
"""
JUDGES = """[{python: "my_agent:judge"}, {langsmith: "my_agent:langsmith_style"}, {expression: "'W1001' in output"},
  {javascript: "output.parsed.orders.length > 1"}, {json_schema: {type: object, required: [orders]}}]"""
PROJECT = """
version: 1
agent: {adapter: python, run: "my_agent:run", safe_tools: all, config: {prompt: prompt.md}}
suite: {scenarios: scenarios.yaml}
mutation: {operators: [prompt.drop_instruction]}
budget: {trials: 40}
statistics: {baseline: 2, rounds: one}
"""


def replies(folder: Path, kilobytes: int) -> None:
    """Write a project whose agent answers with so many kilobytes of JSON, judged by evaluators of five kinds."""
    _project(folder, JUDGES, REPLIES.format(kilobytes=kilobytes))


def prompt(folder: Path, kilobytes: int) -> None:
    """Write a project whose prompt has so many kilobytes of rules, each unlike the others."""
    _project(folder, "[contains: 'yes']")
    rules = (
        f"- Never talk about subject {i}, whatever else the customer may say to you.\n"
        for i in range(kilobytes * 13)
    )
    (folder / "prompt.md").write_text("".join(rules))


def revisions(folder: Path, megabytes: int) -> None:
    """Write a project under git, beside files of so many megabytes, one rule of whose prompt has changed."""
    _project(folder, "[contains: 'yes']")
    for number in range(megabytes):
        lines = (f"{number} {i} {sha256(f'{number} {i}'.encode()).hexdigest()}\n" for i in range(13_500))
        (folder / f"data_{number}.txt").write_text("".join(lines))
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "before")
    (folder / "prompt.md").write_text("- Always be brief.\n- Never talk about subject 2.\n")
    for number in range(megabytes):
        changed = (folder / f"data_{number}.txt").read_text().replace("0", "o")
        (folder / f"data_{number}.txt").write_text(changed)


def recorded(folder: Path, megabytes: int) -> None:
    """Write files of recorded runs of several formats, each of so many megabytes."""
    (folder / "agentmut.yaml").write_text("version: 1\nsuite: {traces: {imported: true}}\n")
    for name in FORMATS:
        text = (TRACES / f"{name}.jsonl").read_text()
        times = -(-megabytes * 10**6 // len(text))
        with (folder / f"{name}.jsonl").open("w") as file:
            file.writelines(_copy(text, number) for number in range(times))


def _copy(text: str, number: int) -> str:
    """Return recorded runs under other ids."""

    def other(id: re.Match[str]) -> str:
        new = sha256(f"{number} {id.group()}".encode()).hexdigest()
        return str(uuid.UUID(new[:32])) if "-" in id.group() else new[: len(id.group())]

    return IDS.sub(other, text.rstrip("\n") + "\n")


def _project(folder: Path, evaluators: str, agent: str = "") -> None:
    code = agent or "async def run(config, input):\n    return 'yes, at once' if config.prompt else 'no'\n"
    (folder / "my_agent.py").write_text(code)
    (folder / "prompt.md").write_text("- Always be brief.\n- Never talk about subject 1.\n")
    cases = [
        f"- {{name: s{i}, input: 'Where is order W100{i}?', evaluators: {evaluators}}}\n" for i in range(2)
    ]
    (folder / "scenarios.yaml").write_text("".join(cases))
    (folder / "agentmut.yaml").write_text(PROJECT)


def _git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)
