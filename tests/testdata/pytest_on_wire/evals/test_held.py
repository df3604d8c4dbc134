import httpx
import pytest
from wire_shop import question, text, url

pytestmark = pytest.mark.evals


@pytest.fixture(scope="session")
def reply() -> str:
    """Asked once for all runs: what becomes of the agent then is seen by nobody."""
    return text(httpx.post(url(), json=question("Hi")))


def test_of_a_reply_that_is_held(reply: str) -> None:
    assert "Hello" in reply
