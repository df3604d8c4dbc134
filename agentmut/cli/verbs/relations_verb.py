"""`agentmut relations`: metamorphic relations on the suite."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli import completing
from agentmut.cli.choosing import refuse_together
from agentmut.cli.options import AgentRef, Fresh, Json, ProjectPath, Scenarios, Seed, Yes

Relation = Annotated[
    list[str] | None,
    typer.Option(
        "--relation",
        help="Only this relation, or the relations of a family: oracle, perturbation.noise.",
        autocompletion=completing.relations,
    ),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        "--pairs", min=1, max=500, help="At most this many pairs of each relation on each scenario."
    ),
]
Sources = Annotated[
    int | None,
    typer.Option("--sources", min=10, max=10_000, help="Runs of the unchanged agent that pairs start from."),
]
Stored = Annotated[bool, typer.Option("--stored", help="Judge stored runs only; run nothing.")]
Save = Annotated[
    str | None, typer.Option("--save", help="Run every pair, and keep the violations under this name.")
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against", help="Run every pair, and compare violations with the violations kept under this name."
    ),
]
Survivors = Annotated[
    bool,
    typer.Option("--survivors", help="Check the surviving mutants of a run: does a relation kill them?"),
]
Run = Annotated[
    str | None,
    typer.Option(
        "--run",
        help="With --survivors: the run's id; the latest when left out.",
        autocompletion=completing.runs,
    ),
]
Preview = Annotated[
    bool,
    typer.Option(
        "--preview",
        help="Show which relations fit which scenarios, and how many agent runs they take at most; run nothing.",
    ),
]


def relations(
    project: ProjectPath = Path(),
    relation: Relation = None,
    scenarios: Scenarios = None,
    pairs: Pairs = None,
    sources: Sources = None,
    seed: Seed = None,
    stored: Stored = False,
    save: Save = None,
    against: Against = None,
    survivors: Survivors = False,
    run: Run = None,
    preview: Preview = False,
    yes: Yes = False,
    fresh: Fresh = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Test whether the agent keeps each metamorphic relation.

    A relation changes the input or the config, and says what must stay, or how the answer may move. Its violations
    are compared with how often the unchanged agent violates it against itself, or with relations.tolerance. Exit code
    0 for PASS, 1 for FAIL, 3 for INCONCLUSIVE or where nothing applies. With --against, the exit code judges only
    the change.

    Example: agentmut relations --relation permutation --yes
    """
    from agentmut.cli.verbs.relating import check_and_print, check_survivors_and_print, print_wish
    from agentmut.cli.verbs.verdicts import project_with
    from agentmut.usecases import RelationRequest, stand_in_keys

    refuse_together(stored=stored, fresh=fresh)
    refuse_together(stored=stored, save=save, against=against)
    refuse_together(preview=preview, survivors=survivors, save=save)
    refuse_together(preview=preview, survivors=survivors, against=against)
    _check_names(save=save, against=against, run=run, survivors=survivors)
    loaded = project_with(project, agent, "relations", {"pairs": pairs, "sources": sources})
    request = RelationRequest(tuple(relation or ()), stored, save or "", against or "")
    only = tuple(scenarios or ())
    with stand_in_keys() if stored or preview else nullcontext():
        if preview:
            print_wish(loaded, only, request, as_json=as_json)
        elif survivors:
            check_survivors_and_print(
                loaded, only, request, run=run, seed=seed, fresh=fresh, yes=yes, as_json=as_json
            )
        else:
            check_and_print(loaded, only, request, seed=seed, fresh=fresh, yes=yes, as_json=as_json)


def _check_names(*, save: str | None, against: str | None, run: str | None, survivors: bool) -> None:
    """Raise `UsageError` for the name of a run that nothing reads, and for an empty name of a document."""
    from agentmut._base import UsageError

    if run is not None and not survivors:
        raise UsageError(
            "--run is for --survivors; without --survivors the current agent is checked. Leave --run out."
        )
    for option, name in (("--save", save), ("--against", against)):
        if name is not None and not name.strip():
            raise UsageError(f"{option}: the name is empty. Give one, or leave the option out.")
