"""Tokens that a service's prompt cache held: read from the replies of every dialect, and priced at the cached rate."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from agentmut.campaign.limits import Spend
from agentmut.campaign.running.spending import spent_with
from agentmut.campaign.trials import Launch
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.project.schema import Price
from agentmut.trial.pricing import Pricer
from agentmut.wire.codecs import codec_for

SERVICES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": "Yes"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
        },
    },
    "/v1/responses": {
        "model": "m",
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes"}]}
        ],
        "usage": {
            "input_tokens": 2006,
            "input_tokens_details": {"cached_tokens": 1920},
            "output_tokens": 300,
            "total_tokens": 2306,
        },
    },
    "/v1/messages": {
        "model": "m",
        "role": "assistant",
        "content": [{"type": "text", "text": "Yes"}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 50,
            "cache_read_input_tokens": 1920,
            "cache_creation_input_tokens": 36,
            "output_tokens": 300,
        },
    },
    "/model/m/converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Yes"}]}},
        "stopReason": "end_turn",
        "usage": {
            "inputTokens": 50,
            "cacheReadInputTokens": 1920,
            "cacheWriteInputTokens": 36,
            "outputTokens": 300,
            "totalTokens": 2306,
        },
    },
    "/v1beta/models/m:generateContent": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Yes"}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 2006,
            "cachedContentTokenCount": 1920,
            "candidatesTokenCount": 300,
            "totalTokenCount": 2306,
        },
    },
}
WRITES = ("/v1/messages", "/model/m/converse")
"""Dialects whose service charges for what it writes to the cache, and says how much that was."""


@pytest.mark.parametrize("path", SERVICES)
def test_a_reply_says_how_much_of_its_input_the_cache_held(path: str) -> None:
    codec = codec_for(path)
    assert codec is not None
    reply = codec.decode_reply(json.dumps(SERVICES[path]).encode())
    written = 36 if path in WRITES else 0
    expected = Usage(input_tokens=2006, output_tokens=300, cached_tokens=1920, cache_written_tokens=written)
    assert reply.usage == expected
    for stream in (False, True):
        again = codec.decode_reply(codec.encode_reply(reply, reply_id="r", stream=stream))
        assert again.usage == expected


def test_a_cache_that_holds_more_than_the_input_is_taken_for_all_of_it() -> None:
    body = SERVICES["/v1/chat/completions"] | {
        "usage": {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 99}}
    }
    codec = codec_for("/v1/chat/completions")
    assert codec is not None
    assert codec.decode_reply(json.dumps(body).encode()).usage.cached_tokens == 10


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [1, 2],
        {"prompt_tokens": -5, "completion_tokens": 3},
        {"prompt_tokens": "12", "completion_tokens": 3},
        {"prompt_tokens": 10**30, "completion_tokens": 3},
        {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": [7]},
    ],
    ids=str,
)
def test_a_reply_whose_report_of_tokens_is_none_is_read_and_has_no_price(usage: Any) -> None:
    """Its calls and its text count as ever; a run without tokens has no known price, and never a negative one."""
    codec = codec_for("/v1/chat/completions")
    assert codec is not None
    called = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Yes", "tool_calls": [called]}
    body = SERVICES["/v1/chat/completions"] | {
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": usage,
    }
    reply = codec.decode_reply(json.dumps(body).encode())
    assert reply.usage == Usage()
    assert [call.name for call in reply.tool_calls] == ["look_up"]
    assert Pricer({"m": Price(input=2.0, output=8.0)}).cost("m", reply.usage) is None


def test_counts_of_tokens_may_be_written_with_a_point() -> None:
    body = SERVICES["/v1/chat/completions"] | {"usage": {"prompt_tokens": 12.0, "completion_tokens": 3.0}}
    codec = codec_for("/v1/chat/completions")
    assert codec is not None
    assert codec.decode_reply(json.dumps(body).encode()).usage == Usage(input_tokens=12, output_tokens=3)


@pytest.mark.parametrize("rate", ["input", "output", "cached_input", "cache_write"])
def test_a_negative_price_is_refused(rate: str) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Price(**{"input": 1.0, "output": 1.0, rate: -0.1})


USED = Usage(input_tokens=1_000_000, cached_tokens=900_000, output_tokens=1000)


@pytest.mark.parametrize(
    ("price", "usd"),
    [
        (Price(input=2.0, output=8.0), 2.008),  # no rate for cached input: as other input
        (Price(input=2.0, output=8.0, cached_input=0.2), 0.2 + 0.18 + 0.008),
        (Price(input=2.0, output=8.0, cached_input=0.0), 0.2 + 0.008),
    ],
)
def test_a_projects_price_may_have_a_rate_for_cached_input(price: Price, usd: float) -> None:
    assert Pricer({"mine": price}).cost("mine", USED) == pytest.approx(usd)


def test_what_is_written_to_the_cache_has_its_own_rate() -> None:
    price = Price(input=2.0, output=8.0, cached_input=0.2, cache_write=2.5)
    used = Usage(input_tokens=1_000_000, cached_tokens=500_000, cache_written_tokens=400_000)
    assert Pricer({"mine": price}).cost("mine", used) == pytest.approx(0.2 + 0.1 + 1.0)


def test_the_public_list_knows_the_cached_rate() -> None:
    """gpt-4o-mini: 0.15 dollars a million input tokens, 0.075 from the cache, 0.6 output."""
    pricer = Pricer({})
    assert pricer.cost("gpt-4o-mini", USED) == pytest.approx(0.015 + 0.0675 + 0.0006)
    assert pricer.cost("gpt-4o-mini", USED.uncached) == pytest.approx(0.1506)


def test_the_saving_is_added_up_over_the_run() -> None:
    call = Step(action=Action.REASON, model="gpt-4o-mini", usage=USED)
    trace = Pricer({}).priced(AgentTrace(steps=(call, call)))
    assert trace.usd == pytest.approx(2 * 0.0831)
    assert trace.cache_saved_usd == pytest.approx(2 * 0.0675)
    execution = Execution(ending=Ending.ANSWERED, trace=trace, footprint=Footprint())
    first, second = ((Launch("", "s", number, number), execution) for number in (0, 1))
    spend = spent_with(spent_with(Spend(), [first]), [second])
    assert spend == spent_with(Spend(), [first, second])
    assert spend.cached_tokens == 3_600_000
    assert spend.saved_usd == pytest.approx(4 * 0.0675)
