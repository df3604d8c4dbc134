import pytest
from bike_shop import answer


def test_how_long_a_repair_takes() -> None:
    assert "3 days" in answer("My bike is damaged.")


@pytest.mark.parametrize("question", ["I want a refund.", "May I ask for a refund?"])
def test_what_a_refund_takes(question: str) -> None:
    assert "receipt" in answer(question)


def test_the_farewell() -> None:
    assert answer("When does the workshop close?").endswith("Ride safely!")
