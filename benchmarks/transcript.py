"""Put the report of `make demo` into docs/example-run.md.

`make demo`, then `agentmut report --full --project examples/support_desk | python benchmarks/transcript.py`.
"""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "example-run.md"
MARKS = re.compile(r"(<!-- transcript: [^\n]*-->\n).*\Z", re.DOTALL)
BASELINE_ROWS, SURVIVORS = 3, 4


def shortened(report: str) -> str:
    """Return the report without most baseline rows and survivors; `...` says where something is left out."""
    head, rest = report.split("Baseline (the agent as it is)\n")
    baseline, rest = rest.split("\n\nUnnoticed changes", 1)
    survivors, rest = rest.split("`agentmut show", 1)
    rows = baseline.splitlines()[: BASELINE_ROWS + 1]
    first = re.split(rf"\n(?= ?{SURVIVORS + 1}\. )", survivors)[0]
    body = "\n".join(["Baseline (the agent as it is)", *rows, "..."])
    return f"{head}{body}\n\nUnnoticed changes{first}\n...\n`agentmut show{rest}"


def main() -> None:
    """Read the report on stdin and rewrite the page's block."""
    report = sys.stdin.read()
    report = report[report.index("agentmut ") :].strip()
    block = f"```text\n{shortened(report)}\n```\n"
    PAGE.write_text(MARKS.sub(lambda m: m[1] + block, PAGE.read_text()))


if __name__ == "__main__":
    main()
