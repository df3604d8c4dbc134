"""A process that carries out one trial at a time is that trial: with all of its threads, and with no second one."""

import threading
from queue import SimpleQueue

import pytest

from agentmut.recording.current import NotAloneError, alone, aside, current_trial, running
from agentmut.recording.trial import Trial


class OlderThread:
    """A thread that was there before any trial, and says whose it is when asked."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._said: SimpleQueue[Trial | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        while self._asked.get():
            self._said.put(current_trial())

    def sees(self) -> Trial | None:
        self._asked.put(True)
        return self._said.get(timeout=600)

    def end(self) -> None:
        self._asked.put(False)
        self._thread.join(600)


def test_a_thread_that_is_older_than_the_trial_is_part_of_it_and_of_what_is_set_aside() -> None:
    thread, trial, judge = OlderThread(), Trial(id="a"), Trial(id="a-judge")
    assert thread.sees() is None
    with running(trial):
        assert thread.sees() is None  # other trials may run beside this one
    with alone(trial):
        assert thread.sees() is trial
        with aside(judge):
            assert thread.sees() is judge
        assert judge.recorder.closed
        assert thread.sees() is trial
    assert thread.sees() is None
    thread.end()


def test_a_second_trial_of_the_process_is_refused_and_the_first_goes_on() -> None:
    first = Trial(id="first")
    with alone(first):
        with pytest.raises(NotAloneError, match="second was to run alone"), alone(Trial(id="second")):
            pass
        assert current_trial() is first
    assert current_trial() is None


def test_two_things_are_not_set_aside_at_once() -> None:
    first, second, third = Trial(id="first"), Trial(id="second"), Trial(id="third")
    with alone(first):
        with (
            aside(second),
            pytest.raises(NotAloneError, match="third was to be set aside while second is"),
            aside(third),
        ):
            pass
        assert current_trial() is first


def test_what_an_abandoned_trial_left_at_work_stays_its_own_until_the_next_begins() -> None:
    abandoned, following = Trial(id="abandoned"), Trial(id="following")
    with pytest.raises(TimeoutError), alone(abandoned):
        raise TimeoutError
    assert current_trial() is abandoned
    with alone(following):
        assert current_trial() is following
    assert current_trial() is None
