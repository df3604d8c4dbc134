"""The list of mutants, before anything is run."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rich.padding import Padding

from agentmut.campaign import changed_text, target_of
from agentmut.mutation import LEFT_OUT, DropKind, DroppedCandidate, Empty, Generation
from agentmut.nouns import Mutant, Origin, Status, Target
from agentmut.report.paint import Page, clean, shorten
from agentmut.report.report_wording import counted
from agentmut.report.terminal.mutant_diff import unified
from agentmut.seams import class_of

_STYLES = {"-": "red", "+": "green", "@": "cyan"}
_KINDS = {
    DropKind.IDENTICAL: "left the agent as it is",
    DropKind.DUPLICATE: "gave the same agent as another mutant",
    DropKind.NOT_EXPRESSIBLE: "cannot be carried out on this agent",
    DropKind.NOT_APPLICABLE: "did not fit the config",
}
_NO_HELP = ("it found no place in this config", "all its candidates were dropped")
MOST_REASONS = 3
"""Reasons that are shown of a class, without `--verbose`."""
Item = TypeVar("Item")


_UNDECLARED = (
    "no prompt is declared; give agent.config.prompt, or keep a request of the agent with `agentmut doctor "
    "--save-request request.json` and name it under agent.config.request"
)


def render_mutants(
    origin: Origin,
    generation: Generation,
    *,
    color: bool = False,
    diffs: bool = False,
    verbose: bool = False,
    width: int | None = None,
) -> str:
    """Return a line for each mutant, by class, then counts, then what was left out and why.

    `diffs` adds each mutant's diff, `verbose` every candidate that was left out. Lines are cut to `width`.
    """
    page = Page(color)
    for name, mutants in _grouped(generation.mutants, lambda mutant: mutant.operator_class.value).items():
        ignored = sum(mutant.id in generation.ignored for mutant in mutants)
        page.title(f"{name} ({len(mutants)}{f', {ignored} of them ignored' if ignored else ''})")
        for mutant, row in zip(mutants, _rows(mutants, origin, generation.ignored), strict=True):
            page.line(shorten(row, width) if width else row, style="bold" if diffs else "")
            for line in unified(origin, mutant) if diffs else ():
                page.line(f"    {clean(line)}", style=_STYLES.get(line[:1], ""))
    _counts(page, generation)
    _ignored(page, generation)
    _without(page, generation, verbose=verbose)
    _left_out(page, generation, verbose=verbose)
    undeclared = () if generation.mutants or origin.config.prompt else (_UNDECLARED,)
    known = (note for note in generation.notes if not note.startswith(LEFT_OUT))  # it has a section here
    for note in (*known, *undeclared):
        page.add()
        page.add(f"Note: {clean(note)}.", style="yellow")
    return page.text().lstrip("\n")


def mutants_document(origin: Origin, generation: Generation) -> dict[str, Any]:
    """Return the list as one JSON document."""
    return {
        "schema_version": 1,
        "source": origin.file,
        "mutants": [_as_dict(origin, mutant, generation) for mutant in generation.mutants],
        "counts": {
            "mutants": len(generation.mutants),
            "unselected": generation.unselected,
            "ignored": len(generation.ignored),
            "classes": dict(sorted(_classes(generation.mutants).items())),
            "operators": dict(sorted(Counter(m.operator for m in generation.mutants).items())),
            "dropped": dict(sorted(Counter(dropped.kind.value for dropped in generation.dropped).items())),
        },
        "dropped": [_plain(dropped) for dropped in generation.dropped],
        "empty": [empty._asdict() for empty in generation.empty],
        "ignored": [
            {"id": mutant.id, "operator": mutant.operator, "reason": generation.ignored[mutant.id]}
            for mutant in generation.mutants
            if mutant.id in generation.ignored
        ],
        "notes": list(generation.notes),
    }


def _plain(dropped: DroppedCandidate) -> dict[str, str]:
    return {"operator": dropped.operator, "description": dropped.description} | {
        "reason": dropped.reason,
        "kind": dropped.kind.value,
    }


def _rows(mutants: Sequence[Mutant], origin: Origin, ignored: Collection[str]) -> Iterator[str]:
    """Return id, operator, intent (or "ignored"), place and description of each mutant, in columns."""
    places = [clean(_target_text(target_of(mutant, origin))) for mutant in mutants]
    operators = max(len(mutant.operator) for mutant in mutants)
    widest = max(map(len, places))
    for mutant, place in zip(mutants, places, strict=True):
        said = " ".join(clean(mutant.description).split())
        intent = Status.IGNORED.value if mutant.id in ignored else mutant.intent.value
        columns = f"{mutant.id}  {mutant.operator:<{operators}}  {intent:<8}  {place:<{widest}}"
        yield f"{columns}  {said}"


def _target_text(target: Target) -> str:
    return f"{target.path or ''}:{target.line}" if target.line else target.path or "-"


def _counts(page: Page, generation: Generation) -> None:
    ignored = f", {len(generation.ignored)} of them ignored" if generation.ignored else ""
    others = f"; filters and caps leave out {generation.unselected} more" if generation.unselected else ""
    page.title(f"{counted(len(generation.mutants), 'mutant')}{ignored}{others}")
    classes = _classes(generation.mutants)
    for name, mutants in _grouped(generation.mutants, lambda mutant: mutant.operator).items():
        group = mutants[0].operator_class.value
        if group in classes:
            page.add(f"  {classes.pop(group):>4}  {group}")
        page.add(f"  {len(mutants):>8}  {name} ({mutants[0].intent.value})")


def _classes(mutants: Iterable[Mutant]) -> dict[str, int]:
    return dict(Counter(mutant.operator_class.value for mutant in mutants))


def _ignored(page: Page, generation: Generation) -> None:
    if not generation.ignored:
        return
    page.title(f"Ignored ({counted(len(generation.ignored), 'mutant')}; not run)")
    for mutant in generation.mutants:
        if mutant.id in generation.ignored:
            reason = clean(generation.ignored[mutant.id])
            page.line(f"  {mutant.id}  {mutant.operator}: {reason}")


def _without(page: Page, generation: Generation, *, verbose: bool) -> None:
    """Add a line for each class, or with `verbose` for each reason with the names."""
    if not generation.empty:
        return
    page.title("Operators without mutants")
    if verbose:
        for reason, group in _grouped(generation.empty, _because).items():
            page.add(Padding(f"{clean(reason)}:", (0, 0, 0, 2)))
            page.add(Padding(", ".join(one.operator for one in group), (0, 0, 0, 4)))
        return
    asked = Counter(map(class_of, generation.operators))
    for name, group in _grouped(generation.empty, lambda one: class_of(one.operator)).items():
        page.hang(f"{name} ({_part(len(group), asked[name])})")
        for line in _summary(group):
            page.hang(line, indent=4)
    page.add("`--verbose` lists them with every reason.")


def _part(some: int, whole: int) -> str:
    return f"{some} of {whole}" if some < whole else f"all {some}"


def _because(empty: Empty) -> str:
    return empty.reason.removeprefix(f"no mutants of {empty.operator}, because ")


def _summary(group: Sequence[Empty]) -> Iterator[str]:
    """Yield the commonest reasons, each with its number of operators; unhelpful reasons come last."""
    reasons = _grouped(group, _because)
    by_number = sorted(reasons.items(), key=lambda each: (each[0] in _NO_HELP, -len(each[1])))
    shown = by_number if len(by_number) <= MOST_REASONS + 1 else by_number[:MOST_REASONS]
    for reason, alike in shown:
        yield f"{len(alike):>2}  {clean(reason)}"
    if others := by_number[len(shown) :]:
        yield f"{sum(len(alike) for _, alike in others):>2}  for other reasons"


def _left_out(page: Page, generation: Generation, *, verbose: bool) -> None:
    if not generation.dropped:
        return
    page.title("Left out")
    for kind, group in _grouped(generation.dropped, lambda dropped: dropped.kind).items():
        page.add(f"  {len(group):>4}  {_KINDS[kind]}")
        for reason, dropped in _reasons(kind, group).items():
            if not verbose and reason:
                page.add(f"          {len(dropped)}: {clean(reason)}")
            for one in dropped if verbose else ():
                page.line(f"          {one.operator}: {clean(one.description)}: {clean(one.reason)}")
    if not verbose:
        page.add("`--verbose` lists each.")


def _reasons(kind: DropKind, group: Sequence[DroppedCandidate]) -> dict[str, list[DroppedCandidate]]:
    """Return the left-out candidates by reason, where the reason says more than their kind."""
    return _grouped(group, lambda one: one.reason if kind is DropKind.NOT_EXPRESSIBLE else "")


def _grouped(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _as_dict(origin: Origin, mutant: Mutant, generation: Generation) -> dict[str, Any]:
    before, after = changed_text(mutant)
    reason = generation.ignored.get(mutant.id)
    return {
        "id": mutant.id,
        "operator": mutant.operator,
        "class": mutant.operator_class.value,
        "intent": mutant.intent.value,
        "parts": [part.id for part in mutant.parts],
        "status": None if reason is None else Status.IGNORED.value,
        "reason": reason or "",
        "target": target_of(mutant, origin).model_dump(),
        "description": mutant.description,
        "before": before,
        "after": after,
        "edits": [edit.model_dump(mode="json") for edit in mutant.edits],
        "diff": list(unified(origin, mutant)),
    }
