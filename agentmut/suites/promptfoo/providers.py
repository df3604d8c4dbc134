"""The providers of a config that promptfoo itself asks: models, and agents behind HTTP."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agentmut._base import UsageError
from agentmut.recording import TRIAL_HEADER

VARIABLES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""Beginning of a provider's id -> the environment variable that reroutes its requests."""
_ELSEWHERE = ("apiHost", "apiBaseUrl")


class Provider(NamedTuple):
    """A provider of a config."""

    id: str
    options: Mapping[str, Any]

    @property
    def variable(self) -> str | None:
        """Return the environment variable that reroutes it; None if none is known."""
        return VARIABLES.get(self.id.partition(":")[0])

    @property
    def is_endpoint(self) -> bool:
        """Return whether it is a service behind HTTP, whose answers promptfoo itself asks for and reads."""
        return self.id.partition(":")[0] in ("http", "https")


def led_through(
    providers: Sequence[Any], wanted: str | None, trial: str, endpoints: Mapping[str, str]
) -> dict[str, Any]:
    """Return the chosen provider for promptfoo to load, with its model requests sent to one of `endpoints`.

    An HTTP endpoint is told the trial's id in a header, by which agentmut's proxy knows its model requests.
    """
    chosen = measured(providers, wanted)
    check_reached(chosen)
    options = dict(chosen.options)
    if chosen.is_endpoint:
        options["config"] = _named_trial(options.get("config") or {}, trial)
    env = {**(options.get("env") or {}), **endpoints}
    return {"id": chosen.id, "options": {**options, "env": env}}


def _named_trial(config: Mapping[str, Any], trial: str) -> dict[str, Any]:
    """Return the settings of an HTTP provider with the trial's header, also in a request that is written out."""
    if "request" not in config:
        return {**config, "headers": {**(config.get("headers") or {}), TRIAL_HEADER: trial}}
    first, _, rest = str(config["request"]).lstrip().partition("\n")
    return {**config, "request": f"{first}\n{TRIAL_HEADER}: {trial}\n{rest}"}


def measured(providers: Sequence[Any], wanted: str | None) -> Provider:
    """Return the measured provider: the only one, or the one of that id or label. Raise `UsageError`."""
    known = list(_providers(providers))
    fitting = [one for one in known if wanted in (None, one.id, one.options.get("label"))]
    if len(fitting) != 1:
        raise UsageError(f"suite.promptfoo.provider: {_ambiguity(known, fitting)}")
    return fitting[0]


def _ambiguity(known: Sequence[Provider], fitting: Sequence[Provider]) -> str:
    """Return why no single provider is meant, and what to do."""
    names = [str(one.options.get("label") or one.id) for one in fitting]
    if len(names) > len(set(names)):
        return f"the config has {names[0]} more than once. Give each a label of its own, and name one here"
    names = [str(one.options.get("label") or one.id) for one in known]
    return f"name the one that is measured. The config has: {', '.join(names) or 'none'}"


def check_reached(chosen: Provider) -> None:
    """Raise `UsageError` for a provider whose model requests cannot be led through agentmut."""
    config = chosen.options.get("config") or {}
    if chosen.is_endpoint:
        if str(config.get("request", "")).startswith("file:"):
            raise UsageError(
                f"suite.promptfoo: the provider {chosen.id!r} reads its request from a file, so that no trial can be "
                "named in it. Write the request into the config"
            )
        return
    if chosen.variable is None:
        raise UsageError(
            f"suite.promptfoo: mutants do not reach the provider {chosen.id!r}. They reach "
            f"{', '.join(VARIABLES)}, exec, python and http. Name your agent with agent.adapter: agentmut then asks "
            "that agent instead of the config's providers"
        )
    if given := next((key for key in _ELSEWHERE if key in config), None):
        raise UsageError(
            f"suite.promptfoo: the provider {chosen.id!r} sets {given}, so that its requests cannot be led through "
            f"agentmut. Leave it out, and set {chosen.variable} in agent.env"
        )


def _providers(providers: Iterable[Any]) -> Iterable[Provider]:
    """Yield providers as a config writes them: an id, a mapping with one, or a mapping from an id to options."""
    for one in providers:
        if isinstance(one, str):
            yield Provider(one, {})
        elif isinstance(one, Mapping) and isinstance(one.get("id"), str):
            yield Provider(one["id"], {key: value for key, value in one.items() if key != "id"})
        elif isinstance(one, Mapping):
            yield from (Provider(str(key), dict(value or {})) for key, value in one.items())
