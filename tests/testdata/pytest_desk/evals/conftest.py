from typing import Any

import pytest
from desk import answer


@pytest.fixture(scope="session")
def desk(agentmut_config: Any) -> Any:
    """An agent that is built once for all tests."""
    prompt = agentmut_config.prompt
    return lambda question: answer(prompt, question)
