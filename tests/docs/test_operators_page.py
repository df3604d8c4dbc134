"""docs/operators.md speaks of the operators that there are."""

import re
from pathlib import Path

from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.operator import OnDemand

PAGE = (Path(__file__).parents[2] / "docs" / "operators.md").read_text(encoding="utf-8")


def test_the_page_has_a_row_and_a_reason_for_every_operator_and_no_other() -> None:
    operators = {n: kind for n, kind in load_all("operators").items() if not issubclass(kind, OnDemand)}
    rows = re.findall(r"^\| `([a-z_.]+)` \| (\w+) \|", PAGE, re.MULTILINE)
    assert dict(rows) == {name: kind.intent.value for name, kind in operators.items()}
    reasons = dict(re.findall(r"^- `([a-z_.]+)`: (.+)$", PAGE, re.MULTILINE))
    assert reasons == {name: kind.why for name, kind in operators.items()}


def test_nearly_every_operator_was_run_in_some_example() -> None:
    tried = re.findall(
        r"^\| `[a-z_.]+` \| \w+ \| .* \| \d+ \| \d+ \| \d+ \| \d+ \| \d+ \|", PAGE, re.MULTILINE
    )
    assert len(tried) >= 60
