"""Trouble of the simulated service, as the real SDKs meet it."""

import json
import threading
import time
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import UsageError
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.latency import read_latency
from agentmut.simulator.service.service_settings import Settings, checked_aliases, read_settings
from agentmut.simulator.service.trouble import FaultKind, trouble_of

MESSAGES: Any = [{"role": "user", "content": "Hi"}]


def ask(
    simulator: Simulator, trial: str = "t", *, stream: bool = False, retries: int = 0, timeout: float = 600.0
) -> str:
    url = simulator.of(trial).openai_base_url
    http = openai.DefaultHttpxClient(verify=False, timeout=timeout)  # no certificates to load
    with openai.OpenAI(base_url=url, api_key="none", max_retries=retries, http_client=http) as sdk:
        asked: Any = {"model": "sim-large", "messages": MESSAGES}
        if not stream:
            return str(sdk.chat.completions.create(**asked).choices[0].message.content)
        chunks = sdk.chat.completions.create(**asked, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def ask_claude(simulator: Simulator, *, stream: bool = False) -> Any:
    import anthropic  # slow

    url = simulator.anthropic_base_url
    http = anthropic.DefaultHttpxClient(verify=False)
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, http_client=http) as sdk:
        asked: Any = {"model": "sim-large", "max_tokens": 50, "messages": MESSAGES}
        if not stream:
            return sdk.messages.create(**asked).content[0].text
        with sdk.messages.stream(**asked) as events:
            return events.get_final_text()


def troubled(*faults: str, retry_after: float = 0.02, **more: Any) -> Simulator:
    return Simulator(read_settings(trouble=trouble_of(faults, retry_after=retry_after), **more))


STATUSES = [
    ("429", openai.RateLimitError),
    ("500", openai.InternalServerError),
    ("503", openai.InternalServerError),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("fault", "raised"), STATUSES)
def test_an_sdk_raises_the_status_that_it_is_given(fault: str, raised: Any, stream: bool) -> None:
    with troubled(f"{fault}:@1") as simulator:
        with pytest.raises(raised) as refused:
            ask(simulator, stream=stream)
        assert refused.value.status_code == int(fault)
        assert "told to" in str(refused.value)
        assert ask(simulator, stream=stream).startswith("I am sorry")


def test_a_429_says_when_to_come_back_and_the_sdk_does() -> None:
    with troubled("429:@1", retry_after=0.7) as simulator:
        started = time.monotonic()
        assert ask(simulator, retries=2).startswith("I am sorry")
        assert time.monotonic() - started > 0.7  # without the header the SDK waits for 0.5 s at most
        assert [received.fault for received in simulator.requests] == ["429", None]
    with troubled("429:@1", retry_after=2.5) as simulator:
        refused = httpx2.post(f"{simulator.openai_base_url}/chat/completions", content=b"{}")
        assert refused.headers["retry-after"] == "3"
        assert refused.json()["error"]["code"] == "rate_limit_exceeded"


def test_a_reset_connection_is_a_connection_error() -> None:
    with troubled("reset:@1") as simulator:
        with pytest.raises(openai.APIConnectionError) as refused:
            ask(simulator)
        assert "reset by peer" in str(refused.value.__cause__)


def test_a_service_that_hangs_is_left_after_the_clients_patience() -> None:
    with troubled("hang:@1") as simulator:
        with pytest.raises(openai.APITimeoutError):
            ask(simulator, timeout=0.3)
        assert ask(simulator).startswith("I am sorry")


def test_a_server_with_requests_that_hang_is_stopped_quickly() -> None:
    def given_up() -> None:
        with pytest.raises(openai.APIConnectionError):
            ask(simulator)

    simulator = troubled("hang:@1").start()
    thread = threading.Thread(target=given_up)
    thread.start()
    while not simulator.requests:
        time.sleep(0.01)
    simulator.stop()
    thread.join(600)
    assert not thread.is_alive()


def test_a_truncated_reply_breaks_off_whether_streamed_or_not() -> None:
    with troubled("truncated:@1,2") as simulator:
        for stream in (False, True):
            with pytest.raises(openai.APIConnectionError) as broken:
                ask(simulator, stream=stream)
            assert "without sending complete message body" in str(broken.value.__cause__)


def test_malformed_json_is_met_in_the_reply_or_in_the_middle_of_the_stream() -> None:
    with troubled("malformed:@1,2") as simulator:
        with pytest.raises(json.JSONDecodeError):
            ask(simulator)
        with pytest.raises(json.JSONDecodeError):
            ask(simulator, stream=True)


def test_an_empty_reply_is_no_json_and_a_stream_without_events() -> None:
    with troubled("empty:@1,2") as simulator:
        with pytest.raises(json.JSONDecodeError):
            ask(simulator)
        assert ask(simulator, stream=True) == ""


def test_a_page_of_a_gateway_is_no_completion() -> None:
    with troubled("content_type:@1,2") as simulator:
        with pytest.raises(AttributeError):  # the SDK gives the page's text, which has no choices
            ask(simulator)
        assert ask(simulator, stream=True) == ""


CLAUDES = [
    ("429", "RateLimitError"),
    ("500", "InternalServerError"),
    ("503", "InternalServerError"),
    ("reset", "APIConnectionError"),
    ("truncated", "APIConnectionError"),
    ("malformed", "JSONDecodeError"),
    ("empty", "JSONDecodeError"),
]


@pytest.mark.parametrize(("fault", "raised"), CLAUDES)
def test_another_sdk_meets_the_same_trouble(fault: str, raised: str) -> None:
    import anthropic  # slow

    errors = {**vars(anthropic), "JSONDecodeError": json.JSONDecodeError}
    with troubled(f"{fault}:@1") as simulator:
        with pytest.raises(errors[raised]):
            ask_claude(simulator)
        assert ask_claude(simulator) == ask_claude(simulator, stream=True)


def test_trouble_never_changes_what_is_answered_in_the_end() -> None:
    kinds = [f"{kind}:0.1" for kind in FaultKind if kind not in ("hang", "truncated", "malformed")]
    with Simulator(Settings(seed=4)) as clean, troubled(*kinds, "truncated:0.05", seed=4) as simulator:
        for number in range(12):
            trial = f"trial {number}"
            expected = ask(clean, trial)
            for _ in range(20):
                try:
                    assert ask(simulator, trial) == expected
                    break
                except (openai.APIError, json.JSONDecodeError, AttributeError):
                    continue
            else:
                raise AssertionError("twenty requests met trouble")
        assert {received.fault for received in simulator.requests} > {None, FaultKind.RESET}


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.text(), st.integers(1, 1000))
def test_who_meets_trouble_is_a_function_of_seed_trial_and_number(seed: int, trial: str, number: int) -> None:
    trouble = trouble_of(["429:0.3", "500:0.3"], seed=seed)
    assert trouble.fault_for(trial, number) == trouble_of(["429:0.3", "500:0.3"], seed=seed).fault_for(
        trial, number
    )
    assert trouble_of(["500:1"], seed=seed).fault_for(trial, number) is FaultKind.SERVER_ERROR
    assert trouble_of([], seed=seed).fault_for(trial, number) is None


def test_rates_are_met_over_many_requests_and_again_by_those_that_come_back() -> None:
    trouble = trouble_of(["429:0.2", "reset:0.1"], seed=3)
    met = [trouble.fault_for(f"trial {trial}", number) for trial in range(500) for number in (1, 2)]
    # 1000 draws: three standard deviations of a share of 0.2 are 0.038, of 0.1 are 0.028
    assert abs(met.count(FaultKind.RATE_LIMIT) / 1000 - 0.2) < 0.038
    assert abs(met.count(FaultKind.RESET) / 1000 - 0.1) < 0.028
    again = [
        trouble.fault_for(f"trial {t}", 2)
        for t in range(500)
        if trouble.fault_for(f"trial {t}", 1) is not None
    ]
    assert 0.5 < again.count(None) / len(again) < 0.9


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("teapot:0.1", "no kind of fault. There are 429, 500"),
        ("429", "expected KIND:RATE"),
        ("429:3", "Did you mean 429:@3"),
        ("429:often", "expected a number"),
        ("429:nan", "expected a number"),
        ("429:0", "above 0"),
        ("hang:@0", "counted from 1"),
        ("hang:@", "expected KIND:RATE"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(setting: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        trouble_of([setting])


def test_rates_beyond_certainty_and_aliases_of_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match=r"1\.2 together"):
        trouble_of(["429:0.6", "500:0.6"])
    with pytest.raises(UsageError, match="there is no 'sim-huge'"):
        checked_aliases({"gpt-x": "sim-huge"})
    with pytest.raises(UsageError, match="cannot be another name"):
        checked_aliases({"sim-small": "sim-large"})


@pytest.mark.parametrize(
    "setting",
    ["3", "fast", "-1s", "2h", "uniform:low=3ms", "uniform:low=3s,high=2s", "lognormal:median=1s,sigma=-1",
     "lognormal:median=1s,sigma=x", "normal:mean=1s", "uniform:low=1s,high=2s,mode=1s", "70m"],
)  # fmt: skip
def test_a_latency_that_cannot_be_meant_is_refused(setting: str) -> None:
    with pytest.raises(UsageError, match="latency"):
        read_latency(setting)


def test_latencies_have_the_distribution_that_they_name() -> None:
    uniform, lognormal = (
        read_latency("uniform:low=100ms,high=300ms"),
        read_latency("lognormal:median=400ms,sigma=0.5"),
    )
    assert [round(uniform.quantile(share), 3) for share in (0, 0.25, 0.5)] == [0.1, 0.15, 0.2]
    # the normal distribution is below one standard deviation with 0.8413: 0.4 * exp(0.5) = 0.6595
    assert lognormal.quantile(0.841344746) == pytest.approx(0.659488, rel=1e-5)
    drawn = sorted(lognormal.seconds_for(1, f"trial {number}", 1) for number in range(1001))
    assert drawn[500] == pytest.approx(0.4, rel=0.08)
    assert (
        lognormal.seconds_for(1, "a", 1)
        == lognormal.seconds_for(1, "a", 1)
        != lognormal.seconds_for(1, "a", 2)
    )
    assert [str(read_latency(str(found))) for found in (uniform, lognormal)] == [str(uniform), str(lognormal)]


def test_a_slow_service_is_slow_and_a_slow_stream_comes_piece_by_piece() -> None:
    with Simulator(read_settings(latency="100ms", chunk_latency="5ms")) as simulator:
        started = time.monotonic()
        assert ask(simulator).startswith("I am sorry")
        assert time.monotonic() - started > 0.1
        url = f"{simulator.openai_base_url}/chat/completions"
        body = {"model": "sim-large", "messages": MESSAGES, "stream": True}
        with httpx2.stream("POST", url, json=body) as response:
            pieces = b"".join(response.iter_raw()).count(b"data: ")
    assert pieces > 30
    assert time.monotonic() - started > 0.1 + 0.1 + 0.15


def test_an_identity_tells_apart_what_shapes_trials() -> None:
    assert Settings().identity == "seed-0"
    whole = read_settings(
        seed=2, trouble=["429:0.1", "hang:@3"], latency="50ms", aliases={"gpt-x": "sim-large"}
    )
    assert whole.identity == "seed-2/trouble-429:0.1+hang:@3+seed-0/latency-50ms/alias-gpt-x=sim-large"
