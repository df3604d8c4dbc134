"""docs/frameworks.md from what the kit found: `python -m tests.frameworks.matrix > docs/frameworks.md`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.frameworks.kit import FOUND

CLASSES = ("prompt", "tool", "model", "context", "orchestration")
Cases = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By the name of the agent and the operator class: what was `delivered`, and what was `refused`."""
HEAD = """# Frameworks

Made by `make frameworks`; do not edit. Each row is an agent of a framework that was run against the simulator by the
conformance kit (`agentmut.testing.check_adapter`, 30 runs at once), and the operator classes of which mutants were
seen to arrive there. `-` means that this agent has nothing of the kind.
"""


def _classes(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name in CLASSES:
        one = found.get(name, {})
        if one.get("delivered"):
            yield "delivered, but for [some](#refused)" if one.get("refused") else "delivered"
        else:
            yield "[refused](#refused)" if one.get("refused") else "-"


def _rows(frameworks: Mapping[str, Cases]) -> Iterator[str]:
    yield f"| adapter | agent | {' | '.join(CLASSES)} |"
    yield "| --- | --- |" + " --- |" * len(CLASSES)
    for framework, cases in frameworks.items():
        for name, found in cases.items():
            yield f"| `{framework}` | {name} | {' | '.join(_classes(found))} |"


def _refusals(frameworks: Mapping[str, Cases]) -> Iterator[str]:
    """Each reason once, with the operators that it keeps out."""
    for framework, cases in frameworks.items():
        reasons: dict[str, dict[str, None]] = {}
        for found in cases.values():
            for one in found.values():
                for operator, reason in one["refused"].items():
                    reasons.setdefault(reason, {})[operator] = None
        for reason, operators in reasons.items():
            yield f"- `{framework}`: {', '.join(f'`{name}`' for name in operators)}: {reason}"


def page(folder: Path) -> str:
    """The page for what the kit has left in a folder."""
    frameworks = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    said = "Operators none of whose mutants can be expressed, with the adapter's reason:"
    parts = [HEAD, *_rows(frameworks), "", "## Refused", "", said, "", *_refusals(frameworks)]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(FOUND), end="")
