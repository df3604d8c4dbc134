"""The mutants of a command: operators make them, filters and caps narrow them, and pairs are added."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agentmut.campaign.preparation.history import (
    History,
    SelectedMutants,
    read_history,
    select_operators,
    selection_note,
)
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.selection.ignoring import ignoring
from agentmut.campaign.selection.second_order import Choice, with_second_order
from agentmut.campaign.selection.selection import Selection, narrowed_drops
from agentmut.mutation import Generation, OperatorCatalogue, generate, left_out_note
from agentmut.nouns import AgentConfig, Mutant, OperatorClass, Origin
from agentmut.project import MutationSettings, outdated_request, runs_folder
from agentmut.seams import AsksAgent, OnDemand, OperatorOptions


def make_mutants(session: Session, selection: Selection) -> Generation:
    """Return the mutants of the session's agent that the project and the selection ask for."""
    root = session.project.root
    made = mutants_of(
        session.origin,
        selection,
        session.project.mutation,
        OperatorCatalogue.from_references(session.project.mutation.own_operators, root),
        session.adapter.cannot_express,
        _not_built(session),
        earlier=lambda: earlier_runs(root),
        narrowed=len(session.scenarios) < len(session.project.scenarios),  # so, it may be, fewer documents
    )
    outdated = outdated_request(session.project)
    return replace(made, notes=(outdated, *made.notes)) if outdated else made


def mutants_of(
    origin: Origin,
    selection: Selection,
    settings: MutationSettings,
    catalogue: OperatorCatalogue,
    cannot_express: Callable[[Mutant], str] = lambda mutant: "",
    not_built: str = "",
    *,
    earlier: Callable[[], History] = lambda: History({}),
    narrowed: bool = False,
) -> Generation:
    """Return the mutants of a config that settings and selection ask for; no agent is needed.

    `earlier` reads the project's earlier runs; it is asked for selective mutation only. `narrowed` when the
    config is only a part of the agent's, so that what fits nothing in it is not stale. `not_built` is why the agent
    could not be asked for its flow, and for tools that the config does not name.
    """
    wanted = selection.operators(catalogue.names, settings)
    if selection.changes is not None and not selection.changes.any:
        return Generation((), (), ())
    share = settings.selective if selection.selective is None else selection.selective
    selected = _most_effective(wanted, share, earlier)
    operators = [
        operator
        for operator in map(catalogue.load, selected.kept)
        if not isinstance(operator, OnDemand) or selection.asks_for(operator.id, settings)
    ]
    lacks = _lacks(origin.config, not_built)
    made = generate(origin.config, operators, operator_options(settings), cannot_express, lacks)
    narrowed = narrowed or selection.narrows_operators or bool(selected.left_out)
    ignored = ignoring(made.mutants, settings.ignore, origin, wanted, narrowed=narrowed)
    selective_note = (selection_note(share, selected),) if share else ()
    flow_note = (not_built,) if not_built else ()
    notes = (*ignored.stale, *selective_note, *flow_note, *_without_schema(origin))
    made = replace(made, empty=(*made.empty, *selected.left_out), notes=notes, selective=share)
    return _chosen(made, Choice(selection, settings, origin, ignored.reasons, cannot_express))


def _chosen(made: Generation, choice: Choice) -> Generation:
    """Return what filters and caps leave of the mutants that were made, with the pairs that are asked for."""
    chosen, dropped = with_second_order(made.mutants, choice)
    kept = {mutant.id for mutant in chosen}
    all_dropped = (*narrowed_drops(made, choice.selection, choice.origin), *dropped)
    return replace(
        made,
        mutants=chosen,
        dropped=all_dropped,
        notes=(*made.notes, *left_out_note(all_dropped)),
        unselected=sum(mutant.id not in kept for mutant in made.mutants),
        ignored={m.id: choice.ignored[m.id] for m in chosen if m.id in choice.ignored},
    )


def _without_schema(origin: Origin) -> tuple[str, ...]:
    names = origin.sources.tools_without_schema
    if not names:
        return ()
    return (
        f"tools without `parameters`: {', '.join(names)}. Models are told that they take no arguments, and no mutant "
        "changes their schemas: write `parameters` (a JSON Schema), or `parameters: {}` if they take none",
    )


def _not_built(session: Session) -> str:
    adapter = session.adapter
    if not isinstance(adapter, AsksAgent) or not adapter.not_built:
        return ""
    unknown = "flow" if session.suite.full.tools else "tools and flow"
    return (
        f"agentmut could not build the agent here, so no mutant changes its {unknown}: {adapter.not_built.rstrip('.')}"
        ". Set what the agent needs, or run `agentmut simulate -- agentmut mutants`"
    )


def _lacks(config: AgentConfig, not_built: str) -> dict[OperatorClass, str]:
    """Return why classes may lack mutants, where the agent could not be asked for its parts."""
    if not not_built:
        return {}
    classes = (OperatorClass.ORCHESTRATION, *(() if config.tools else (OperatorClass.TOOL,)))
    return dict.fromkeys(classes, not_built)


def earlier_runs(root: Path) -> History:
    """Return what became of mutants in the earlier runs of the project in this folder."""
    return read_history(runs_folder(root))


def operator_options(settings: MutationSettings) -> OperatorOptions:
    """Return the project's settings in the form that operators take."""
    return OperatorOptions(
        swap_models=settings.swap_models,
        downgrade_models=settings.downgrade_models,
        slow_seconds=settings.slow_seconds,
        wordnet=settings.wordnet,
    )


def _most_effective(
    operators: Sequence[str], share: float | None, earlier: Callable[[], History]
) -> SelectedMutants:
    if share is None:
        return SelectedMutants(tuple(operators), ())
    return select_operators(operators, share, earlier())
