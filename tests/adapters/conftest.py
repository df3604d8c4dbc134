"""What all tests of adapters need."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_client_of_an_earlier_test() -> Iterator[None]:
    """LangChain keeps clients by address: a port that comes again must bring no client of a closed event loop."""
    yield
    if clients := sys.modules.get("langchain_openai.chat_models._client_utils"):
        clients._cached_async_httpx_client.cache_clear()
