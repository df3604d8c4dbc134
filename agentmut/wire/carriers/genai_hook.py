"""google-genai sends async requests by aiohttp if it is installed. This hook makes these requests visible.

While a tap is installed, clients use their httpx client for what a trial asks. That is the choice which google-genai
makes by itself where aiohttp is not there; no public option of a client that is there already changes it.
google-genai is not imported for this: where an agent imports it later, the method is replaced then.
"""

from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from agentmut.recording import current_trial
from agentmut.wire.carriers.patching import replaced, when_imported

MODULE = "google.genai._api_client"
METHOD = "_use_aiohttp"
CLIENT = "_async_httpx_client"
"""The attribute with the client of httpx; one whose making has failed has none."""


def can_be_led() -> bool:
    """Return whether the installed google-genai chooses its client where agentmut expects it. Imports google-genai."""
    return METHOD in vars(import_module(MODULE).BaseApiClient)


def enter(stack: ExitStack) -> None:
    """Lead requests of trials through httpx until the stack is closed."""
    stack.enter_context(when_imported(MODULE, lambda: _install(stack)))


def _install(stack: ExitStack) -> None:
    client = import_module(MODULE).BaseApiClient
    if METHOD in vars(client):  # versions before aiohttp have only httpx
        stack.enter_context(replaced(client, METHOD, _unless_in_a_trial))


def _unless_in_a_trial(original: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def use_aiohttp(client: Any) -> bool:
        by_httpx = getattr(client, CLIENT, None)
        # none where Google's own authentication sends
        if current_trial() is not None and by_httpx is not None:
            return False
        return original(client)

    return use_aiohttp
