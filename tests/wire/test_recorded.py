"""Which dialect a recorded request is in."""

from typing import Any

import pytest

from agentmut.wire.recorded import dialect_of

HELLO = {"messages": [{"role": "user", "content": "Hi"}]}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": "7"}
ANTHROPIC: list[dict[str, Any]] = [
    {**HELLO, "stop_sequences": ["x"]},
    {**HELLO, "thinking": {"type": "enabled", "budget_tokens": 1024}},
    {**HELLO, "tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    {**HELLO, "tool_choice": {"type": "any"}},
    {"messages": [{"role": "user", "content": [RESULT]}]},
]


@pytest.mark.parametrize("body", ANTHROPIC)
def test_what_only_anthropic_knows_tells_its_requests(body: dict[str, Any]) -> None:
    assert dialect_of(body) == "anthropic_messages"


def test_other_dialects_are_told_by_their_own_keys() -> None:
    assert dialect_of(HELLO) == "chat_completions"
    assert dialect_of({**HELLO, "tools": [{"type": "web_search"}]}) == "chat_completions"
    assert dialect_of({"modelId": "m", "system": [{"text": "S"}], "messages": []}) == "converse"
    assert dialect_of({"model": "m", "prompt": {"id": "x"}}) == "responses"
    assert dialect_of({"model": "m", "input": "Hi", "output": None}) == "responses"
