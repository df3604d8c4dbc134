"""The task whose log is `inspect.eval`: a question with a tool, two epochs.

    agentmut simulate -- inspect eval tests/testdata/traces/inspect_task.py --model openai/sim-large \\
        --epochs 2 --log-format eval --log-dir /tmp/log

writes a log, and it is copied to `inspect.eval`.
"""

import json

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import Tool, ToolError, tool

PROMPT = (
    "You are a support agent. Look up the order with track_order before you answer. Say what its status is."
)


@tool
def track_order() -> Tool:
    """Make the tool that looks orders up."""

    async def execute(order_id: str) -> str:
        """Look up an order by its id.

        Args:
            order_id: the id
        """
        if "W1" not in order_id:
            raise ToolError(f"there is no order {order_id}")
        return json.dumps({"order": order_id, "status": "shipped"})

    return execute


@task
def orders() -> Task:
    """Two questions, of which one has an answer."""
    return Task(
        dataset=[
            Sample(id="known", input="Where is my order W1?", target="shipped"),
            Sample(id="unknown", input="What about order W2?", target="shipped"),
        ],
        solver=[system_message(PROMPT), use_tools(track_order()), generate()],
        scorer=includes(),
    )
