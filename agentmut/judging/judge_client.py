"""Ask a model for a judgement in JSON, through its provider's SDK, which finds the key and the address."""

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from agentmut._base import NotJudgedError, RunError
from agentmut.nouns import JudgeModel, Usage

_NAME = "report"
LONGEST_PAUSE = 10.0
"""Seconds that an SDK waits at most before it asks again."""
_SHOWN = 120
_OURS = frozenset({401, 403, 404})
"""Statuses of a wrong key or name: asking again, or about another answer, would not help."""


_SILENCE = frozenset({"APITimeoutError", "TimeoutError"})
"""Causes of an error that a service without a reply has, in both SDKs and here."""


class Question(NamedTuple):
    """What a model is asked: its task, the data as JSON, and the JSON Schema of the object to return."""

    instruction: str
    data: str
    schema: Mapping[str, Any]
    temperature: float | None = 0
    """None leaves it to the service: some models take none."""
    most_tokens: int = 300
    """Tokens that a reply may have, for APIs that require a limit."""


class Patience(NamedTuple):
    """How long a reply may take, and how often the SDK asks again after 429, 5xx and lost connections."""

    seconds: float = 60.0
    retries: int = 2


class Reply(NamedTuple):
    """A model's reply."""

    value: dict[str, Any] | None
    """None where it is not the object asked for: text, a refusal, a reply cut short."""
    text: str
    usage: Usage

    @property
    def shown(self) -> str:
        """Return the beginning of the reply, for messages."""
        return repr(self.text[:_SHOWN])


class JudgeClient:
    """Asks one model. The SDK's client is made once, for the first question: making one takes longer than a request."""

    def __init__(self, model: JudgeModel, patience: Patience | None = None) -> None:
        self._model = model
        self._patience = patience or Patience()
        self._lock = threading.Lock()
        self._client: Any = None
        self._is_silent = False
        """Whether the last question got no reply in time: the next is tried once, or each would wait for every try."""

    def ask(self, question: Question) -> Reply:
        """Ask once; safe for threads. Raise `NotJudgedError` if no reply came, `RunError` if none ever will.

        The SDK tries again, unless the question before got no reply in time.
        """
        from agentmut.recording import current_trial

        name = self._model.name
        # the request would be taken for the agent's: changed, and counted as such
        if current_trial() is not None:
            raise RunError(f"the judge {name} was asked inside of a trial. Ask it once the run has ended")
        make, ask = _SDKS[self._model.provider]
        with self._lock:
            self._client = self._client or make(name, self._patience)
            client = self._client
        retries = 0 if self._is_silent else self._patience.retries
        tried = partial(ask, client.with_options(max_retries=retries), name, question)
        longest = (self._patience.seconds + LONGEST_PAUSE) * (retries + 1)
        try:
            reply = self._in_time(tried, client, longest)
        except NotJudgedError as error:
            self._is_silent = type(error.__cause__).__name__ in _SILENCE
            raise
        self._is_silent = False
        return reply

    def _in_time(self, call: Callable[[], Reply], client: Any, seconds: float) -> Reply:
        """Return what a call returns. The limit of an SDK holds for each piece of a reply, which may have no end."""
        done: Future[Reply] = Future()
        threading.Thread(target=_settle, args=(done, call), daemon=True, name="agentmut-judge").start()
        try:
            return done.result(seconds)
        except TimeoutError as error:
            if done.done():  # the call itself raised that
                raise
            self._drop(client)
            raise NotJudgedError(
                f"the judge {self._model.name} sent a reply that had not ended after {seconds:g} s. This says nothing "
                "about the agent; see that its address is that of a model service, and run it again."
            ) from error

    def _drop(self, client: Any) -> None:
        """Close a client, which ends the thread that reads from it; the next question makes another client."""
        with self._lock:
            if self._client is client:
                self._client = None
        with suppress(Exception):
            client.close()


def _settle(done: "Future[Reply]", call: Callable[[], Reply]) -> None:
    try:
        done.set_result(call())
    except BaseException as error:
        done.set_exception(error)


def _openai(model: str, patience: Patience) -> Any:
    try:
        import openai
    except ImportError:
        raise _no_sdk("openai") from None
    try:
        return openai.OpenAI(timeout=patience.seconds, max_retries=patience.retries)
    except openai.OpenAIError as error:  # no key
        raise _not_asked(model, error) from error


def _ask_openai(client: Any, model: str, question: Question) -> Reply:
    import openai

    extra = {} if question.temperature is None else {"temperature": question.temperature}
    schema = {"name": _NAME, "strict": True, "schema": _plain(question.schema)}
    try:
        reply = client.chat.completions.create(
            model=model,
            messages=[
                {"role": "system", "content": question.instruction},
                {"role": "user", "content": question.data},
            ],
            response_format={"type": "json_schema", "json_schema": schema},
            extra_body=extra,
        )
    except openai.OpenAIError as error:
        raise _not_asked(model, error) from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # the SDK reads the reply, which is no JSON, or is nested too deep
        return _unreadable(error)
    usage = _usage(reply, "prompt_tokens", "completion_tokens")
    said = _first(getattr(reply, "choices", None), "message")
    text = getattr(said, "content", None) or getattr(said, "refusal", None) or ""
    return Reply(_object(text), text, usage) if text and isinstance(text, str) else _unreadable(reply, usage)


def _anthropic(model: str, patience: Patience) -> Any:
    try:
        import anthropic
    except ImportError:
        raise _no_sdk("anthropic") from None
    return anthropic.Anthropic(timeout=patience.seconds, max_retries=patience.retries)


def _ask_anthropic(client: Any, model: str, question: Question) -> Reply:
    import anthropic

    # newer models have no such argument; the service still takes it
    extra = {} if question.temperature is None else {"temperature": question.temperature}
    tool = {"name": _NAME, "description": "Report the judgement.", "input_schema": _plain(question.schema)}
    try:
        reply = client.messages.create(
            model=model,
            max_tokens=question.most_tokens,
            system=question.instruction,
            messages=[{"role": "user", "content": question.data}],
            tools=[tool],
            tool_choice={"type": "tool", "name": _NAME},
            extra_body=extra,
        )
    except (anthropic.AnthropicError, TypeError) as error:  # the latter where no key is set
        raise _not_asked(model, error) from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # the SDK reads the reply, which is no JSON, or is nested too deep
        return _unreadable(error)
    usage = _usage(reply, "input_tokens", "output_tokens")
    content = getattr(reply, "content", None)
    blocks = content if isinstance(content, list) else []
    told = [block.input for block in blocks if getattr(block, "type", None) == "tool_use"]
    if told and isinstance(told[0], dict):
        return Reply(told[0], json.dumps(told[0]), usage)
    texts = [text for block in blocks if isinstance(text := getattr(block, "text", None), str)]
    return Reply(None, " ".join(texts), usage) if texts else _unreadable(reply, usage)


_SDKS: Mapping[str, tuple[Callable[[str, Patience], Any], Callable[[Any, str, Question], Reply]]] = (
    MappingProxyType({"openai": (_openai, _ask_openai), "anthropic": (_anthropic, _ask_anthropic)})
)


def _usage(reply: Any, input_field: str, output_field: str) -> Usage:
    """Return the usage that a reply reports; nothing if it reports none. The SDKs check no field of what they read."""
    used = getattr(reply, "usage", None)
    tokens = [getattr(used, name, None) for name in (input_field, output_field)]
    taken, given = (n if isinstance(n, int) and n > 0 else 0 for n in tokens)
    return Usage(input_tokens=taken, output_tokens=given)


def _first(items: Any, field: str) -> Any:
    return getattr(items[0], field, None) if isinstance(items, list) and items else None


def _unreadable(reply: Any, usage: Usage | None = None) -> Reply:
    """Return a reply without a value, for a reply that is not the API's (a proxy's page, say) or lacks fields."""
    return Reply(None, f"a reply that cannot be read: {reply}"[:_SHOWN], usage or Usage())


def _plain(schema: Any) -> Any:
    """Return mappings as dicts, which the SDKs can write."""
    return {k: _plain(v) for k, v in schema.items()} if isinstance(schema, Mapping) else schema


def _object(text: str) -> dict[str, Any] | None:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _no_sdk(sdk: str) -> RunError:
    return RunError(f"a judge of {sdk} needs its SDK. Install it with: pip install 'agentmut[{sdk}]'.")


def _not_asked(model: str, error: Exception) -> NotJudgedError | RunError:
    """Return the error of a call that failed: a set-up error if the status or a missing key says so."""
    said = " ".join(str(error).split())[:300]
    status = getattr(error, "status_code", None)
    unsent = status is None and not hasattr(error, "request")  # the SDK itself refused: no key, say
    kind = RunError if unsent or status in _OURS else NotJudgedError
    return kind(
        f"the judge {model} could not be asked: {type(error).__name__}: {said}. This says nothing about the agent; "
        "check the model's name, the key and the address, and run it again."
    )
