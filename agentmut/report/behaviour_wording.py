"""The behaviour of today's runs against a baseline's, as sentences for every format that is read by people."""

from collections.abc import Callable, Iterator

from agentmut.nouns import Behaviour, BehaviourRow, MovedFeature
from agentmut.report.paint import clean


def behaviour_lines(found: Behaviour, named: Callable[[str], str] = clean) -> Iterator[str]:
    """Yield a line for each scenario, and what the comparison promises.

    `named` makes what models and users wrote safe in the format at hand.
    """
    for row in found.scenarios:
        yield from _row(row, len(found.looks), named)
    yield (
        "Changed says neither better nor worse. Over all scenarios and looks, the chance that anything is called "
        f"changed although nothing is, is at most {found.alpha:g}. Where nothing is shown, behaviour may still differ."
    )


def _row(row: BehaviourRow, planned: int, named: Callable[[str], str]) -> Iterator[str]:
    name = named(row.scenario)
    if not row.p_values:
        yield f"{name}: not compared, {row.note}."
        return
    p, looks = row.p_values[-1], len(row.p_values)
    said = {"changed": "CHANGED", "continue": "no change shown so far"}.get(row.change, "no change shown")
    yield (
        f"{name}: {said} (p {p:.2g}, {row.level:.2g} asked, {looks} of {planned} looks, {row.runs} runs against "
        f"{row.baseline_runs})"
    )
    for feature in (row.moved, *row.also):
        if feature is not None:
            yield f"  {named(feature.words)}: {_counts(feature)}"


def _counts(feature: MovedFeature) -> str:
    """Return the runs that show a feature, or its means where it shows in as large a share of both sides."""
    before, now = feature.baseline_runs / feature.baseline_of, feature.runs / feature.of
    if before == now:
        return f"on average {feature.baseline_mean:.4g} before, {feature.mean:.4g} now"
    return f"in {feature.baseline_runs} of {feature.baseline_of} runs before, in {feature.runs} of {feature.of} now"
