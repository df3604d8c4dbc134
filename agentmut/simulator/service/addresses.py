"""The addresses of the simulator, in the terms of each SDK."""

from typing import NamedTuple
from urllib.parse import quote

from agentmut._base import SIMULATOR_VARIABLE, __version__
from agentmut.simulator.service.service_settings import Settings

KEY = "simulated"
REGION = "us-east-1"


class Addresses(NamedTuple):
    """The addresses of one running simulator; for one trial, those with the trial in the path."""

    root: str
    """Scheme, host and port."""
    trial: str = ""

    @classmethod
    def found_at(cls, openai_base_url: str) -> "Addresses":
        """Return the addresses of the simulator with this base URL, as `serve` yields it."""
        return cls(openai_base_url.removesuffix("/v1"))

    def of(self, trial: str) -> "Addresses":
        """Return the addresses whose requests belong to a trial."""
        return self._replace(trial=trial)

    @property
    def base(self) -> str:
        """Return what the paths of all services begin with.

        >>> Addresses("http://127.0.0.1:1").of("a b").base
        'http://127.0.0.1:1/t/a%20b'
        """
        return f"{self.root}/t/{quote(self.trial, safe='')}" if self.trial else self.root

    @property
    def openai_base_url(self) -> str:
        """Return the base URL for the OpenAI SDKs, in both dialects."""
        return f"{self.base}/v1"

    @property
    def anthropic_base_url(self) -> str:
        """Return the base URL for the Anthropic SDKs, which add `/v1` themselves."""
        return self.base

    @property
    def gemini_base_url(self) -> str:
        """Return the base URL for the Google Gen AI SDKs, which add the version of the API themselves."""
        return self.base

    @property
    def vertex_base_url(self) -> str:
        """Return the base URL for agent engines, and for Google Gen AI SDKs that ask Vertex AI; both add
        the version.
        """
        return self.base

    @property
    def bedrock_endpoint(self) -> str:
        """Return the endpoint for the AWS SDKs: services `bedrock-runtime` and `bedrock-agent-runtime`."""
        return self.base

    @property
    def ollama_host(self) -> str:
        """Return the host for the clients of Ollama, which add `/api` themselves."""
        return self.base

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that lead every SDK here, with dummy keys."""
        return {
            "OPENAI_BASE_URL": self.openai_base_url,
            "OPENAI_API_BASE": self.openai_base_url,  # LlamaIndex looks only here
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.anthropic_base_url,
            "ANTHROPIC_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": self.gemini_base_url,
            "GEMINI_API_KEY": KEY,
            "GOOGLE_VERTEX_BASE_URL": self.vertex_base_url,
            "OLLAMA_HOST": self.ollama_host,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.bedrock_endpoint,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": self.bedrock_endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
        }


def exports(addresses: Addresses, settings: Settings) -> dict[str, str]:
    """Return the variables that lead SDKs to a simulator, and the variable with its settings for agentmut."""
    return {**addresses.environment, SIMULATOR_VARIABLE: f"{__version__}/{settings.identity}"}
