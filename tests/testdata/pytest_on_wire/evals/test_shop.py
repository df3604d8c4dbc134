import itertools
import threading

import httpx
import httpx2
import pytest
from wire_shop import question, text, url

TIMES = itertools.count()
"""Noise that tests can rely on: one run in six goes wrong, whatever the agent does."""
pytestmark = pytest.mark.evals


@pytest.fixture(scope="session")
def client() -> httpx.Client:
    return httpx.Client()


def test_a_refund(client: httpx.Client) -> None:
    assert "5 days" in text(client.post(url(), json=question("What about my refund?")))


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_greeting_that_is_missed_at_times(anyio_backend: str) -> None:
    async with httpx2.AsyncClient() as client:
        answer = text(await client.post(url(), json=question("Hi")))
    assert "Hello" in answer and next(TIMES) % 6 != 5


def test_delivery(client: httpx.Client) -> None:
    answers: list[str] = []
    asked = question("When is the delivery?")
    thread = threading.Thread(target=lambda: answers.append(text(client.post(url(), json=asked))))
    thread.start()
    thread.join()
    assert answers[0]  # whatever is promised


@pytest.mark.skipif(False, reason="never")
class TestNothing:
    """Holds no test."""
