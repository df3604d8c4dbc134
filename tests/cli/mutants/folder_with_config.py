"""A folder with a config of four files, and calls of `agentmut mutants` in it."""

import json
from collections.abc import Callable
from typing import Any

from agentmut._base.errors import ExitCode

SYSTEM = """You answer customers.

- Always greet the customer.
- Never promise a refund.
<!-- agentmut: ignore prompt.drop_instruction: cosmetic -->
- Always say goodbye.
"""


TOOLS = """- name: refund
  description: Pay an order back.
  parameters: {type: object, properties: {order: {type: string}}}

- name: lookup
  description: Find an order.
  parameters: {type: object, properties: {order: {type: string}}}
"""


CONFIG = """prompt: system.md
tools: tools.yaml
model: {name: large, temperature: 0}
context: [policy.md]
"""


Run = Callable[..., tuple[int, str, str]]


def listed(run: Run, *arguments: str) -> dict[str, Any]:
    code, out, err = run("--config", "agent.yaml", "--json", *arguments)
    assert code == 0, err
    return json.loads(out)  # type: ignore[no-any-return]


def refused(run: Run, *arguments: str) -> str:
    code, _, err = run(*arguments)
    assert code == ExitCode.USAGE, err
    assert "Traceback" not in err
    return err
