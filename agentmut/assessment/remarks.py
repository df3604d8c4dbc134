"""Remarks on scenarios, of which many share one."""

from collections.abc import Iterable, Iterator

NAMED = 3
"""So many scenarios are named of those that share a remark."""


def with_names(remarks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield each remark once, behind the names of the scenarios that it is about; empty remarks are left out.

    >>> list(with_names([("a", "slow"), ("b", ""), ("c", "slow"), ("d", "flaky")]))
    ['a, c: slow', 'd: flaky']
    """
    names: dict[str, list[str]] = {}
    for name, remark in remarks:
        if remark:
            names.setdefault(remark, []).append(name)
    for remark, named in names.items():
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        yield f"{', '.join(named[:NAMED])}{more}: {remark}"


def stored_before(outdated: str) -> str:
    """Return the note that stored trials may be older than a change; `outdated` is the sentence on the change."""
    return (
        f"{outdated}. Stored trials may be older than this change, so a worse agent may pass here: `--fresh` runs "
        "the agent again"
    )
