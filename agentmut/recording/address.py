"""How a request says which trial it belongs to: by a header, or by its path."""

from urllib.parse import unquote

TRIAL_HEADER = "x-agentmut-trial"
"""Of requests that are told whose they are."""
TRIAL_PREFIX = "/t/"
"""Of paths that name their trial: `/t/<trial>/v1/...`."""


def trial_and_path(target: str) -> tuple[str | None, str]:
    """The trial that a request's target names, and the target without it.

    >>> trial_and_path("/t/a%20b/v1/messages"), trial_and_path("/v1/messages")
    (('a b', '/v1/messages'), (None, '/v1/messages'))
    """
    if not target.startswith(TRIAL_PREFIX):
        return None, target
    name, slash, rest = target.removeprefix(TRIAL_PREFIX).partition("/")
    return unquote(name, errors="surrogateescape"), slash + rest
