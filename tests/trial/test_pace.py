"""Whose time it was: waits for the service are told apart from the agent's own time, and judged by what is usual."""

import pytest

from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.messages import Exchange, ModelRequest
from agentmut.nouns.service_times import MOST_WAITS, ServiceTime, service_time
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.recorder import Recorder
from agentmut.trial.pace import Pace, not_its_own
from agentmut.trial.paced import by_pace, is_own_timeout


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recorder(clock: Clock) -> Recorder:
    return Recorder(clock=clock)


def wait(recorder: Recorder, clock: Clock, seconds: float, *, failed: bool = False) -> None:
    since = recorder.now()
    recorder.request_left(since)
    clock.now += seconds
    recorder.settled(since)
    if failed:
        request = ModelRequest(model="m", messages=())
        recorder.exchanges.append(Exchange(request, None, 503, None, since, seconds))


def test_waits_and_own_time_add_up(recorder: Recorder, clock: Clock) -> None:
    wait(recorder, clock, 2.0)
    clock.now += 5.0  # its own
    wait(recorder, clock, 3.0)
    recorder.request_left(10.0)
    clock.now = 14.0
    assert recorder.service_time(14.0) == ServiceTime(waits=(2.0, 3.0), waiting=4.0, own=5.0, cut=14.0)


def test_requests_at_the_same_time_are_one_wait(recorder: Recorder, clock: Clock) -> None:
    recorder.request_left(0.0)
    clock.now = 1.0
    recorder.request_left(1.0)
    clock.now = 3.0
    recorder.settled(0.0)
    clock.now = 4.0
    recorder.settled(1.0)
    clock.now = 6.0
    assert recorder.service_time() == ServiceTime(waits=(4.0,), own=2.0)


def test_the_pause_before_a_request_is_sent_again_is_the_services(recorder: Recorder, clock: Clock) -> None:
    wait(recorder, clock, 0.5, failed=True)
    clock.now += 20.0  # as its Retry-After says
    wait(recorder, clock, 1.0)
    clock.now += 2.0
    spent = recorder.service_time()
    assert spent.waits == pytest.approx((21.5,), abs=0.01)
    assert spent.own == pytest.approx(2.0, abs=0.01)
    assert spent.failed == 1
    wait(recorder, clock, 0.5, failed=True)
    clock.now += 9.0  # and it pauses still
    assert recorder.service_time().waiting == pytest.approx(9.5, abs=0.01)


def test_what_a_rate_limit_holds_back_is_neither(recorder: Recorder, clock: Clock) -> None:
    recorder.count(held=10.0)
    clock.now = 12.0
    assert recorder.service_time().own == 2.0


def test_of_very_many_waits_the_longest_are_kept_and_no_time_is_lost() -> None:
    spans = tuple((i * 1.0, i * 1.0 + (0.9 if i % 2 else 0.1)) for i in range(2 * MOST_WAITS))
    spent = service_time(spans, 2.0 * MOST_WAITS, 0.0)
    assert len(spent.waits) == MOST_WAITS and set(spent.waits) == {0.9}
    assert spent.own + sum(spent.waits) == pytest.approx(2 * MOST_WAITS)


TIMEOUT = 60.0


@pytest.mark.parametrize(
    ("waits", "waiting", "usual", "its_own"),
    [
        ((), 0.0, None, True),  # it asked nobody
        ((2.0, 2.0), 0.0, 3.0, True),  # 56 s of its own
        ((2.0,) * 30, 0.0, 3.0, True),  # it asks again and again
        ((2.0,) * 29, 2.0, 3.0, True),  # and is cut off in the midst of it
        ((2.0,) * 29, 2.0, None, True),  # which its own waits show as well
        ((), 60.0, None, False),  # never an answer
        ((2.0, 2.0), 20.0, 3.0, False),  # an outage at the end
        ((25.0, 25.0), 10.0, 8.0, False),  # slower than usual throughout
        ((20.0, 2.0), 38.0, 30.0, False),  # of a model that reasons: not twice its longest answer
        ((2.0, 40.0, 2.0), 0.0, 3.0, False),  # an outage in the middle, long over when it was cut off
        ((2.0, 40.0, 2.0), 0.0, None, False),
        ((5.0, 5.0), 0.1, 4.9, True),  # in the tenth that is no matter
    ],
)
def test_whose_a_timeout_is(
    waits: tuple[float, ...], waiting: float, usual: float | None, its_own: bool
) -> None:
    own = TIMEOUT - sum(waits) - waiting
    spent = ServiceTime(waits=waits, waiting=waiting, own=own, cut=TIMEOUT)
    assert (not not_its_own(spent, usual)) is its_own


def test_the_pace_is_that_of_the_scenario_then_of_all_then_of_earlier_trials() -> None:
    pace = Pace({"slow": [50.0] * 20})
    assert pace.usual("slow") == 50.0 and pace.usual("other") == 50.0
    pace.learn("quick", ServiceTime(waits=(1.0,) * 19 + (9.0,)))
    assert pace.usual("quick") == 1.0  # 95 of 100 take at most so long
    assert pace.usual("slow") == 1.0  # the service of now goes before the scenario of once
    pace.learn("slow", ServiceTime(waits=(40.0,) * 20))
    assert (pace.usual("slow"), pace.usual("quick"), pace.usual("new")) == (40.0, 1.0, 40.0)
    assert Pace().usual("any") is None


def test_a_timeout_is_judged_again_by_what_is_known_later() -> None:
    spent = ServiceTime(waits=(10.0, 10.0), waiting=15.0, own=25.0, cut=60.0)
    kept = Execution(ending=Ending.TIMEOUT, trace=AgentTrace(service=spent))
    assert is_own_timeout(kept, None)  # by itself: not twice as long as its answers
    assert not is_own_timeout(kept, 12.0)
    assert by_pace(kept, 12.0).ending is Ending.INFRASTRUCTURE
    assert by_pace(by_pace(kept, 12.0), 20.0).ending is Ending.TIMEOUT
    before = Execution(ending=Ending.TIMEOUT, trace=AgentTrace())  # of a version that kept no waits
    assert not is_own_timeout(before, 12.0)
    answered = Execution(ending=Ending.ANSWERED, trace=AgentTrace())
    assert is_own_timeout(answered, 12.0) and by_pace(answered, 12.0) is answered
