"""`agentmut suggest`: what to write next."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli import completing
from agentmut.cli.options import Full, Json, ProjectPath, Seed
from agentmut.cli.output import agents_on_stderr, print_json, print_page, say_collecting, wants_color

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmut.insight import Bench
    from agentmut.project import Project
    from agentmut.usecases import Proposed


NOTHING_CHANGED = "Nothing changed: the scenario files have these suggestions already."
NOTHING_CHOSEN = (
    "Nothing changed: of the suggestions that `agentmut suggest` made last, there is none that `all` writes. After a "
    "new run, give `agentmut suggest` again. Suggestions under `Seen to differ` are written by their ids."
)
Ids = Annotated[
    list[str] | None,
    typer.Argument(
        help="With --apply: ids of suggestions, or the beginning of them, or `all` except those under `Seen to differ`."
    ),
]
Scenarios = Annotated[
    bool, typer.Option("--scenarios", help="Search for new scenarios too: this runs the agent.")
]
Apply = Annotated[bool, typer.Option("--apply", help="Write the named suggestions into the scenario files.")]
Run = Annotated[
    str | None,
    typer.Option(
        "--run",
        help="The campaign whose mutants count; the latest when left out.",
        autocompletion=completing.runs,
    ),
]
Trials = Annotated[
    int | None, typer.Option("--trials", min=1, help="At most this many agent runs in the search.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a search runs the agent.")]


def suggest(
    ids: Ids = None,
    project: ProjectPath = Path(),
    scenarios: Scenarios = False,
    apply: Apply = False,
    run: Run = None,
    trials: Trials = None,
    seed: Seed = None,
    yes: Yes = False,
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Propose what to write next: assertions that kill survivors, and scenarios for what no stored run exercises.

    Reads stored trials, at no cost. With --scenarios, also proposes inputs, runs them, and keeps inputs that reach
    something new or kill a mutant; the same command continues an interrupted search. A suggestion describes what
    the agent did, right or wrong: use --apply only for suggestions that you have confirmed.

    Example: agentmut suggest --scenarios --trials 100
    """
    from agentmut.project import load_project

    _check(ids, apply, scenarios, yes or trials is not None or seed is not None)
    if apply and run is not None:
        raise UsageError("--apply writes the suggestions that were made last; give it without --run.")
    with agents_on_stderr():
        loaded = load_project(project)
    if apply:
        _apply(loaded, ids or [], as_json)
        return
    with agents_on_stderr():
        proposed = _proposed(loaded, run, trials, seed, scenarios=scenarios, yes=yes)
    if as_json:
        print_json(_document(proposed))
    else:
        from agentmut.report import render_suggestions

        print_page(render_suggestions(proposed, wants_color()), full=full)


def _check(ids: list[str] | None, apply: bool, scenarios: bool, for_search: bool) -> None:
    """Refuse options that would have no effect."""
    if ids and not apply:
        raise UsageError(f"{ids[0]}: ids are for --apply, as in `agentmut suggest --apply {ids[0]}`.")
    if apply and scenarios:
        raise UsageError("--apply writes suggestions that were made before; give it without --scenarios.")
    if not scenarios and for_search:
        raise UsageError("--trials, --seed and --yes are for a search: give --scenarios too.")


def _proposed(
    project: "Project", run: str | None, trials: int | None, seed: int | None, *, scenarios: bool, yes: bool
) -> "Proposed":
    from agentmut.cli.progress import ProgressLine
    from agentmut.usecases import (
        free_suggestions,
        keep_suggestions,
        opened,
        searched_suggestions,
        stand_in_keys,
    )

    if scenarios:
        _ask(project, trials, yes)
    say_collecting(project)
    keys = nullcontext() if scenarios else stand_in_keys()
    with keys, opened(project) as (session, store):
        if not scenarios:
            proposed = free_suggestions(session, store, run)
        else:
            line = ProgressLine()

            def show(bench: "Bench") -> None:
                line.show(lambda: f"searching | {bench.trials_asked_for}/{bench.plan.trials} trials")

            try:
                proposed = searched_suggestions(
                    session, store, now=time.time(), run=run, seed=seed, trials=trials, progress=show
                )
            finally:
                line.close()
    keep_suggestions(project, proposed.suggestions)
    return proposed


def _ask(project: "Project", trials: int | None, yes: bool) -> None:
    """Ask before a search, which costs money and may call tools: say how many trials at most, and which tools."""
    if yes:
        return
    from agentmut.cli.verbs.verdicts import ask

    most = project.suggest.trials if trials is None else trials
    question = (
        f"The search runs the agent at most {most} times (suggest.trials), within the project's budget. "
        f"{_really_called(project.safe_tools)}"
    )
    ask(f"{question} Search?", f"{question} Pass --yes to go ahead.")


def _really_called(safe: "Sequence[str]") -> str:
    if "all" in safe:
        return "It really calls every tool (agent.safe_tools: all)."
    named = f"It really calls {', '.join(safe)} (agent.safe_tools)" if safe else "It really calls no tool"
    return f"{named}; what is not listed in agent.safe_tools gets a double."


def _apply(project: "Project", ids: list[str], as_json: bool) -> None:
    from agentmut.usecases import apply, chosen, kept_suggestions

    _refuse_other_tools(project, ids)
    changed = [path.relative_to(project.root).as_posix() for path in apply(project, ids)]
    if as_json:
        print_json({"changed": changed})
        return
    unchanged = NOTHING_CHANGED if chosen(kept_suggestions(project), ids) else NOTHING_CHOSEN
    typer.echo(f"Changed: {', '.join(changed)}." if changed else unchanged)
    if changed:
        typer.echo("Read what was added before you keep it, then: `agentmut rescore`, or `agentmut run`")


def _refuse_other_tools(project: "Project", ids: list[str]) -> None:
    """Raise `UsageError` with what to write by hand if an assertion is for a test of another tool."""
    from agentmut.nouns import AssertionSuggestion
    from agentmut.report import by_hand_in_suite
    from agentmut.usecases import chosen, kept_suggestions

    if project.imported is None:
        return
    taken = chosen(kept_suggestions(project), ids)
    texts = [
        by_hand_in_suite(one, project.imported.kind) for one in taken if isinstance(one, AssertionSuggestion)
    ]
    if texts:
        raise UsageError("\n".join(texts))


def _document(proposed: "Proposed") -> dict[str, object]:
    searched = proposed.searched
    return {
        **proposed.suggestions.model_dump(mode="json"),
        "ideas": [idea._asdict() for idea in proposed.ideas],
        "search": None
        if searched is None
        else {
            "tried": searched.tried,
            "trials": searched.asked,
            "executed": searched.executed,
            "ended": searched.ended,
            "before": _values(searched.before),
            "after": _values(searched.after),
        },
    }


def _values(coverage: object) -> dict[str, float | None]:
    from agentmut.insight import Coverage

    assert isinstance(coverage, Coverage)
    return {"overall": coverage.overall} | {row.dimension.value: row.value for row in coverage.dimensions}
