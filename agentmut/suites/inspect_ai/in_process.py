"""Models that send no request from the process, such as mockllm, are asked through a model that agentmut sees.

What inspect_ai asks such a model is put as a request of chat completions, which passes where all requests of a trial
do, and is answered by the model itself. So mutants reach it, and their witness is what it was asked.
"""

import copy
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agentmut.recording import Recorder, Trial, belonging, current_trial
from agentmut.suites.inspect_ai.chat import as_asked, as_body, as_output, as_reply

if TYPE_CHECKING:
    import httpx
    from inspect_ai.model import Model, ModelAPI

IN_PROCESS = frozenset({"mockllm", "hf", "transformer_lens", "nnterp"})
"""Providers of inspect_ai that send nothing."""
_PROVIDERS = "inspect_ai.model._providers."
_URL = "http://agentmut.invalid/v1/chat/completions"
"""An address that no request reaches: a transport inside the process answers."""
Generate = Callable[..., Awaitable[Any]]


def in_process(model: "Model") -> bool:
    """Return whether an inspect_ai model sends no request."""
    return type(model.api).__module__.removeprefix(_PROVIDERS) in IN_PROCESS


class InProcess:
    """Routes the questions to models inside the process through agentmut, while a trial runs.

    Whether a provider that is not inspect_ai's own sends requests shows at its first call; from then on those are
    what mutants change.
    """

    def __init__(self) -> None:
        self._sending: set[type] = set()

    def applies(self, api: "ModelAPI") -> bool:
        """Return whether questions to this provider must be routed through agentmut."""
        place = type(api).__module__
        if place.startswith(_PROVIDERS):
            return place.removeprefix(_PROVIDERS) in IN_PROCESS
        return type(api) not in self._sending

    def wrapped(self, model: "Model") -> "Model":
        """Return the model, or one that asks it through agentmut."""
        from inspect_ai.model import Model

        if not self.applies(model.api):
            return model
        api = copy.copy(model.api)
        setattr(api, "generate", self._passing(model.api))  # noqa: B010  (a method, for this object)
        return Model(api, model.config, model.model_args)

    def _passing(self, api: "ModelAPI") -> Generate:
        async def generate(input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            trial = current_trial()
            # a scorer asks, or the requests are seen themselves
            if trial is None or type(api) in self._sending:
                return await api.generate(input, tools, tool_choice, config)
            call = _Call(api, (input, tools, tool_choice, config), trial)
            given = await call.carried_out()
            if call.sent:
                self._sending.add(type(api))
            return given

        return generate


class _Call:
    """One question to a model: its request, and the model's answer to the request after changes."""

    def __init__(self, api: "ModelAPI", asked: tuple[Any, Any, Any, Any], trial: Trial) -> None:
        self._api = api
        self._asked = asked
        self._trial = trial
        self._answered: Any = None
        self._made_of: Any = None
        self.sent = False
        """Whether the model turned out to send requests."""

    async def carried_out(self) -> Any:
        """Return what `ModelAPI.generate` returns. Raise what the model raises."""
        import httpx

        body = as_body(self._api.model_name, *self._asked)
        async with httpx.AsyncClient(
            transport=httpx.MockTransport(self._answer), timeout=None, trust_env=False
        ) as client:
            reply = (await client.post(_URL, json=body)).json()
        if isinstance(self._answered, Exception) or reply == as_reply(self._answered):
            return self._made_of
        return as_output(reply, self._answered)

    async def _answer(self, request: "httpx.Request") -> "httpx.Response":
        import json

        import httpx

        own = Trial(id=self._trial.id, seed=self._trial.seed, recorder=Recorder())
        with belonging(own):  # the request is changed already
            asked = as_asked(json.loads(request.content), self._asked)
            self._made_of = await self._api.generate(*asked)
        self.sent = self.sent or bool(own.recorder.exchanges)
        self._answered = self._made_of[0] if isinstance(self._made_of, tuple) else self._made_of
        if isinstance(self._answered, Exception):  # as inspect_ai is told of a refused request
            return httpx.Response(500, json={"error": {"message": str(self._answered)}})
        return httpx.Response(200, json=as_reply(self._answered))
