"""Choose the aims of a search: the weakest dimension (Algorithm 1, line 1) and its missing items within reach."""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentmut.insight.coverage.models import is_model
from agentmut.insight.coverage.nouns import Coverage, CoverageItem, Dimension
from agentmut.insight.generate.graph_ways import nodes_of_model
from agentmut.insight.generate.nested import outermost_of
from agentmut.insight.generate.proposals import Aim, AimKind
from agentmut.nouns import AgentConfig, Intent, Mutant, OperatorClass, Result, Status

MUTANTS = "mutants"
"""The name of one more target: mutants that the suite lets live, with the mutation score as its value."""
WITHOUT_RECIPE = (Dimension.PATH,)
"""Dimensions of which nothing says which input leads there: anything new is tried, when nothing else is left."""
NOT_BY_INPUTS = (Dimension.ABLATION, Dimension.STATE)
"""State is none to aim at: nothing says what leads to another one, and 1 - exp(-seen/lambda) stays far from 1 even
when all are seen.
"""
ALIVE = (Status.NO_COVERAGE, Status.SURVIVED)


class Weakness(NamedTuple):
    """A dimension below its target, and the aims in it."""

    dimension: str
    ratio: float
    """Coverage by target, at most 1."""
    aims: tuple[Aim, ...]

    @property
    def known(self) -> bool:
        """Return whether the agent or its runs show which inputs may reach the missing items."""
        return all(aim.kind is not AimKind.ANY for aim in self.aims)


def weaknesses(
    coverage: Coverage, targets: Mapping[Any, float], alive: Sequence[Mutant], score: float | None
) -> list[Weakness]:
    """Return the dimensions below their targets, the weakest first; dimensions without a known way come last.

    `targets` are by name of dimension, 1 where left out; `alive` are mutants that the suite does not kill, `score` is
    the mutation score.
    """
    found = [
        Weakness(
            row.dimension.value,
            row.value / targets.get(row.dimension.value, 1.0),
            _aims(coverage, row.dimension),
        )
        for row in coverage.dimensions
        if row.value is not None and row.dimension not in NOT_BY_INPUTS
    ]
    if alive:
        aims = tuple(aim for mutant in alive for aim in _at_mutant(mutant))
        found.append(Weakness(MUTANTS, score or 0.0, aims))
    return sorted(
        (each for each in found if each.ratio < 1 and each.aims),
        key=lambda each: (not each.known, each.ratio),
    )


def mutants_alive(result: Result | None, mutants: Iterable[Mutant]) -> tuple[Mutant, ...]:
    """Return the degrading first-order mutants that no scenario kills; those that no scenario reaches come first."""
    status = {row.id: row.status for row in result.mutants} if result else {}
    found = [m for m in mutants if m.intent is Intent.DEGRADE and not m.parts and status.get(m.id) in ALIVE]
    return tuple(sorted(found, key=lambda m: ALIVE.index(status[m.id])))


def without_inputs(
    coverage: Coverage, config: AgentConfig, swaps: Collection[str] = (), downgrades: Collection[str] = ()
) -> Iterator[str]:
    """Yield the items that inputs cannot cover, with their remedy: a missing model needs a run of the suite with it.

    `swaps` and `downgrades` are the models that the project declares for mutants.
    """
    for item in coverage.uncovered:
        if item.dimension is not Dimension.MODEL or nodes_of_model(config.orchestration, item.name):
            continue
        said = f"{item}: no run used it, and no input would. Run the suite with it: "
        for operator, declared in (("swap", swaps), ("downgrade", downgrades)):
            if any(is_model(item.name, name) for name in declared):
                yield f"{said}`agentmut run --operator model.{operator}`"
                break
        else:
            yield f"{said}name it in mutation.swap_models, then `agentmut run --operator model.swap`"


def _aims(coverage: Coverage, dimension: Dimension) -> tuple[Aim, ...]:
    if dimension in WITHOUT_RECIPE:
        return (Aim(AimKind.ANY, ""),)
    lacking = [item for item in coverage.uncovered if item.dimension is dimension]
    found = [aim for item in lacking if (aim := _at_item(item))]
    return tuple(sorted(found, key=lambda aim: bool(outermost_of(aim.parameter))))  # the simple ones first


def _at_item(item: CoverageItem) -> Aim | None:
    if item.dimension is Dimension.TOOL:
        return Aim(AimKind.TOOL, str(item), tool=item.tool)
    if item.dimension is Dimension.RULE:
        return Aim(AimKind.RULE, str(item), rule=item.text)
    if item.dimension is Dimension.NODE:
        return Aim(AimKind.NODE, str(item), target=item.name)
    if item.dimension is Dimension.EDGE:
        source, _, target = item.name.partition(" -> ")
        return Aim(AimKind.EDGE, str(item), source=source, target=target)
    if item.dimension is Dimension.MODEL:
        return Aim(AimKind.MODEL, str(item), target=item.name)
    return _at_boundary(item) if item.dimension is Dimension.BOUNDARY else None


def _at_boundary(item: CoverageItem) -> Aim | None:
    aim = Aim(AimKind.BOUNDARY, str(item), tool=item.tool, parameter=item.parameter)
    if item.name.endswith(" absent"):
        return aim._replace(absent=True)
    value = json.loads(item.example) if item.example else None
    if isinstance(value, float) and not math.isfinite(value):
        return None  # no JSON, and nothing that a user would say
    return aim._replace(value=value, has_value=True) if item.example else aim


def _at_mutant(mutant: Mutant) -> Iterator[Aim]:
    item = f"mutant {mutant.id}"
    if mutant.operator_class is OperatorClass.TOOL and mutant.subject:
        yield Aim(AimKind.TOOL, item, tool=mutant.subject)
    if mutant.operator_class is OperatorClass.PROMPT:
        said = next((edit.before for edit in mutant.edits if isinstance(edit.before, str)), "")
        if said.strip():
            yield Aim(AimKind.RULE, item, rule=" ".join(said.split()))
