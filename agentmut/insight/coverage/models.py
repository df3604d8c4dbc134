"""Which of the models that an agent is meant to support have answered (Eq. 19)."""

import re
from collections.abc import Iterable

_ROUTED = re.compile(
    r"^(?:(?:us|eu|apac|global)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\."
)
_BEDROCK_VERSION = re.compile(r"-v\d+(?::\d+)?$")
_LATEST = re.compile(r"[-@:]latest$")
_DATE = re.compile(r"[-@](?:20\d\d-\d\d-\d\d|20\d{6}|\d\d-\d{4}|[01]\d[0-3]\d|2[3-9](?:0[1-9]|1[0-2]))$")


def is_model(target: str, answered: str) -> bool:
    """Whether the model that answered is the one that is meant.

    Case, what routes to a model (`openai/`, `us.anthropic.`), and `-latest` do not matter. A dated snapshot counts
    as the model of its name; where a snapshot is meant, only that one counts.

    >>> is_model("gpt-5.2", "openai/gpt-5.2-2026-01-01"), is_model("gpt-5.2", "gpt-5.2-mini")
    (True, False)
    >>> is_model("gpt-5.2-2026-01-01", "gpt-5.2")
    False
    """
    meant, said = _plain(target), _plain(answered)
    return said == meant or _DATE.sub("", said) == meant


def distinct_models(names: Iterable[str]) -> tuple[str, ...]:
    """The names without blanks and without those that only spell another one differently, in their order."""
    kept: dict[str, str] = {}
    for name in names:
        if name:
            kept.setdefault(_plain(name), name)
    return tuple(kept.values())


def _plain(name: str) -> str:
    last = name.strip().lower().rpartition("/")[2]
    return _LATEST.sub("", _BEDROCK_VERSION.sub("", _ROUTED.sub("", last)))
