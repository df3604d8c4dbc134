"""The one list of model services, and what is made of it."""

import asyncio
import os

import pytest

from agentmut._base.services import CARRIED, ENDPOINT_VARIABLES, SERVICES
from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.simulator.service.addresses import Addresses
from agentmut.wire.codecs import all_codecs


def test_every_dialect_is_some_carried_services() -> None:
    assert {codec.name for codec in all_codecs()} == {
        name for service in CARRIED for name in service.dialects
    }


def test_the_simulator_gives_addresses_that_services_are_found_by() -> None:
    given = Addresses("http://127.0.0.1:1").environment
    known = {name for service in SERVICES for name in (*service.keys, *service.settings)}
    assert set(given) <= known | set(ENDPOINT_VARIABLES)


def test_an_adapter_under_check_reaches_no_real_service(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENDPOINT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://own.example")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own")

    async def inside() -> dict[str, str]:
        async with endpoint():
            return dict(os.environ)

    found = asyncio.run(inside())
    for name in ("OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
        assert found[name].startswith("http://127.0.0.1:") and name not in os.environ
    assert found["ANTHROPIC_BASE_URL"] == "http://own.example"
    assert found["AWS_ACCESS_KEY_ID"] == "own" and found["GEMINI_API_KEY"] == "simulated"
