"""A Python provider, as promptfoo's documentation has it."""

from typing import Any

from asking import answer


def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Answer what the test's variable asks."""
    assert prompt == f"Customer {context['vars']['name']}: {context['vars']['question']}"
    return {"output": answer(context["vars"]["question"], options["config"]["model"]), "cost": 0.01}
