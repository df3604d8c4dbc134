"""The model services that agents use, with their names, addresses, keys and dialects in one place."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit


class Service(NamedTuple):
    """A kind of model service."""

    name: str
    """The name of its provider, and the first part of its paths at a proxy, which no other service has."""
    variables: tuple[str, ...]
    """Environment variables that hold its base URL. Programs are given all of them."""
    keys: tuple[str, ...]
    """Environment variables of which its clients need one; none where they have other credentials."""
    dialects: frozenset[str] = frozenset()
    """Names of the codecs of its requests; none: requests to it are not led through a proxy."""
    default: str | None = None
    """Where it is when no variable says; None: programs do not use it then."""
    suffix: str = ""
    """What its base URLs end in where those of other services of the same host do not."""
    shared: tuple[str, ...] = ()
    """Variables that hold its base URL too, but lead to other services besides: programs keep their own."""
    settings: tuple[str, ...] = ()
    """Variables that its clients need besides a key."""
    aliases: tuple[str, ...] = ()
    """Other names of its provider."""
    regional: str = ""
    """Where it is in a `{region}`, when no variable says and the environment has one of its keys."""

    port: int = 0
    """The port where its variable may name a host alone, without `http://`; 0 where it holds a URL."""

    def url_of(self, value: str) -> str:
        """Return the base URL in a value of the service's variable, as its clients read the value.

        >>> OLLAMA.url_of("0.0.0.0"), OLLAMA.url_of(":99"), OLLAMA.url_of("https://host.example")
        ('http://127.0.0.1:11434', 'http://127.0.0.1:99', 'https://host.example')
        """
        if not self.port or "://" in value:
            return value
        host, slash, path = value.strip().partition("/")
        try:
            port = urlsplit(f"//{host}").port
        except ValueError:  # who opens it says what is wrong
            return f"http://{value}"
        name = host.removesuffix(f":{port}") if port else host.rstrip(":")
        name = "127.0.0.1" if name in ("", "0.0.0.0", "[::]") else name
        return f"http://{name}:{port or self.port}{slash}{path}"

    def address_in(self, environment: Mapping[str, str]) -> str | None:
        """Return the address of a regional service; None if the environment has no region or no key.

        >>> BEDROCK.address_in({"AWS_REGION": "eu-west-1", "AWS_PROFILE": "me"})
        'https://bedrock-runtime.eu-west-1.amazonaws.com'
        """
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        if not self.regional or not region or not any(map(environment.get, self.keys)):
            return None
        return self.regional.format(region=region)


OPENAI = Service(
    "openai",
    ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    ("OPENAI_API_KEY",),
    frozenset({"chat_completions", "responses"}),
    "https://api.openai.com/v1",
    suffix="/v1",
)
AZURE = Service(
    "azure",
    ("AZURE_OPENAI_ENDPOINT",),
    ("AZURE_OPENAI_API_KEY",),
    frozenset({"chat_completions", "responses"}),
)
"""Each customer has an address of their own, which the variable names."""
ANTHROPIC = Service(
    "anthropic",
    ("ANTHROPIC_BASE_URL",),
    ("ANTHROPIC_API_KEY",),
    frozenset({"anthropic_messages"}),
    "https://api.anthropic.com",
)
GEMINI = Service(
    "gemini",
    ("GOOGLE_GEMINI_BASE_URL",),
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    frozenset({"gemini"}),
    "https://generativelanguage.googleapis.com",
    aliases=("google",),
)
VERTEX = Service("vertex", ("GOOGLE_VERTEX_BASE_URL",), (), frozenset({"gemini"}))
"""Its clients have credentials of which no variable need tell."""
BEDROCK = Service(
    "bedrock",
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
    ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
    frozenset({"converse", "invoke_model"}),
    shared=("AWS_ENDPOINT_URL",),
    settings=("AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION"),
    regional="https://bedrock-runtime.{region}.amazonaws.com",
)
BEDROCK_AGENT = Service(
    "bedrock-agent",
    ("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME",),
    BEDROCK.keys,
    shared=BEDROCK.shared,
    settings=BEDROCK.settings,
)
OLLAMA = Service(
    "ollama",
    ("OLLAMA_HOST",),
    (),
    frozenset({"ollama_chat"}),
    "http://127.0.0.1:11434",
    port=11434,
)
SERVICES = (OPENAI, AZURE, ANTHROPIC, GEMINI, VERTEX, BEDROCK, BEDROCK_AGENT, OLLAMA)
CARRIED = tuple(service for service in SERVICES if service.dialects)
"""Services whose requests pass a proxy on their way, to be read and changed."""
ENDPOINT_VARIABLES = tuple(
    dict.fromkeys(name for service in SERVICES for name in (*service.variables, *service.shared))
)
"""Every variable by which a program is led to another service than the usual one."""
KEYS: Mapping[str, tuple[str, ...]] = {
    name: service.keys for service in SERVICES if service.keys for name in (service.name, *service.aliases)
}
"""The environment variables of which a provider's clients need one."""

KEYLESS = frozenset(service.name for service in SERVICES if not service.keys)
"""Providers whose clients have credentials of which no variable need tell."""


def dummy_keys(variables: Mapping[str, str]) -> dict[str, str]:
    """Return dummy keys for clients that need a key without a real service, where `variables` have none.

    >>> dummy_keys({"ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k", "AWS_PROFILE": "p", "AZURE_OPENAI_API_KEY": "k"})
    {'OPENAI_API_KEY': 'none'}
    """
    lacking = [service for service in SERVICES if not any(map(variables.get, service.keys))]
    wanted = (name for service in lacking for name in (*service.keys[:1], *service.settings))
    return {name: "none" for name in wanted if not variables.get(name)}


SIMULATOR_VARIABLE = "AGENTMUT_SIMULATOR"
"""Set by `agentmut simulate`: names the simulated service, whose port says nothing about its answers."""
