"""Evaluator functions as LangSmith has them."""

import itertools
from typing import Any

ASKED = itertools.count(1)


def seldom_wrong(outputs: str) -> bool:
    """A judge that is right nine times out of ten."""
    return ("Hello" in outputs) is (next(ASKED) % 10 != 0)


def plain(inputs: str, outputs: str) -> bool:
    return (inputs, outputs) == ("Hi", "Hello")


async def waits(*, inputs: str, outputs: str) -> dict[str, Any]:
    return {"score": True, "comment": inputs}


def several(outputs: str) -> dict[str, Any]:
    short = {"key": "short", "score": len(outputs) < 3, "comment": "it is long"}
    return {"results": [{"key": "said", "score": True}, short]}


def rated(outputs: str) -> dict[str, Any]:
    return {"key": "tone", "score": 0.7}


def keyed(inputs: dict[str, Any], outputs: dict[str, Any], reference_outputs: str) -> bool:
    return inputs == {"question": "Hi"} and outputs["answer"] == reference_outputs


def more(outputs: str, least: int) -> bool:
    return len(outputs) >= least


def path(outputs: list[dict[str, Any]]) -> bool:
    call = outputs[1]["tool_calls"][0]
    told = [(one["role"], one["content"]) for one in outputs]
    assert call["function"] == {"name": "find", "arguments": '{"id": 1}'}
    return told == [("user", "Hi"), ("assistant", ""), ("tool", '{"ok": true}'), ("assistant", "Done")]


def old(run: Any, example: Any) -> bool:
    return True


def broken(outputs: str) -> float:
    return 1 / 0


def polite(inputs: str, outputs: str) -> Any:
    """A model judge of openevals."""
    from openevals import create_llm_as_judge

    judge = create_llm_as_judge(
        prompt="Is this polite? {inputs} {outputs}", model="openai:sim", feedback_key="polite"
    )
    return judge(inputs=inputs, outputs=outputs)


def unnamed(outputs: str, /) -> bool:
    return bool(outputs)
