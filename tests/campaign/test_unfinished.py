"""Which of some things have not ended yet, without a look at each of them every time."""

from agentmut.campaign.decision.unfinished import Unfinished


def test_it_is_empty_once_all_have_ended() -> None:
    ended: set[str] = set()
    unfinished = Unfinished("abc", ended.__contains__)
    assert not unfinished.is_empty()
    ended.update("bc")
    assert not unfinished.is_empty()
    ended.add("a")
    assert unfinished.is_empty()


def test_what_goes_on_again_is_found() -> None:
    ended = {"a", "b", "c"}
    unfinished = Unfinished("abc", ended.__contains__)
    assert unfinished.is_empty()
    ended.remove("b")
    assert not unfinished.is_empty()
    ended.add("b")
    assert unfinished.is_empty()


def test_nothing_at_all_has_ended() -> None:
    assert Unfinished((), bool).is_empty()


def test_looks_at_each_thing_are_few() -> None:
    """Each of 1,000 things ends in its turn, with a look after each."""
    ended: set[int] = set()
    looks = 0

    def has_ended(thing: int) -> bool:
        nonlocal looks
        looks += 1
        return thing in ended

    unfinished = Unfinished(range(1000), has_ended)
    for thing in range(1000):
        assert not unfinished.is_empty()
        ended.add(thing)
    assert unfinished.is_empty()
    assert looks < 4 * 1000
