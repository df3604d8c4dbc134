"""`agentmut replay`: a recorded trial again, without its model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentmut._base import ExitCode, UsageError
from agentmut.cli import completing
from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json

if TYPE_CHECKING:
    from agentmut.campaign import Replay, Session
    from agentmut.nouns import Cassette


def replay(
    trial: Annotated[
        str | None,
        typer.Argument(help="The id of a recorded trial or its beginning, or a file. Left out: lists them."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", help="The run's id; the latest when left out.", autocompletion=completing.runs),
    ] = None,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Run the agent of a recorded trial again, on the recorded answers of its model.

    No request goes to a model. Tools that the scenario does not double are really called again, with all their
    effects. A replay is no new trial, and changes no result. `execution.record: true` in the project file records
    trials.

    Example: agentmut replay 4be1
    """
    from agentmut.campaign import open_session
    from agentmut.campaign import replay as replayed
    from agentmut.project import load_project
    from agentmut.store import read_cassette
    from agentmut.usecases import agent_environment, redactor, stand_in_keys

    if trial is None:
        _list(_folder(project, run), as_json)
        return
    cassette = read_cassette(_find(trial, project, run))
    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        with agent_environment(loaded):
            session = open_session(loaded)
            _warn(session, cassette.scenario)
            shown = replayed(session, cassette, redactor(loaded))
    _print(cassette, shown, as_json)
    # broken is what asked for things that were not recorded, whatever the verdict
    raise typer.Exit(int(ExitCode.BROKEN if shown.problem or shown.unused else ExitCode.OK))


def _warn(session: "Session", scenario: str) -> None:
    """Warn of tools without a double: the replayed agent calls them, although the recording has their results."""
    from agentmut.doctor import real_tools

    played = [known for known in session.scenarios if known.name == scenario]
    if real := real_tools(session.adapter.get_config(), played, session.project.safe_tools):
        typer.echo(
            f"Note: the scenario has no stand-in for {', '.join(real)}. If the agent calls such a tool, the real tool "
            "runs, with all its effects. Give the scenario `tools:` with stand-ins, or list the tools that do no harm "
            "in agent.safe_tools.",
            err=True,
        )


def _folder(project: Path, run: str | None) -> Path:
    from agentmut.cli.runs import find_recorded

    return find_recorded(project, run)


def _find(trial: str, project: Path, run: str | None) -> Path:
    from agentmut.store import cassettes_of

    if trial.endswith(".json"):
        return Path(trial)
    if "/" in trial or Path(trial).is_file():
        raise UsageError(
            f"{trial} is no recorded trial: the name of such a file ends with .json. `agentmut replay` lists the "
            "recorded trials of a run."
        )
    folder = _folder(project, run)
    matching = [path for path in cassettes_of(folder) if path.name.startswith(trial)]
    if len(matching) != 1:
        many = f"{len(matching)} recorded trials of run {folder.name} have an id that begins with {trial!r}"
        none = f"no recorded trial of run {folder.name} has an id that begins with {trial!r}"
        raise UsageError(f"{many if matching else none}. `agentmut replay` lists the recorded trials.")
    return matching[0]


def _list(folder: Path, as_json: bool) -> None:
    from agentmut.report import clean
    from agentmut.store import cassettes_of, read_cassette

    rows = [_row(read_cassette(path)) for path in cassettes_of(folder)]
    if as_json:
        print_json({"run": folder.name, "trials": rows})
        return
    for row in rows:
        about = f"{row['mutant']} {row['operator']}" if row["mutant"] else "the original"
        line = f"{row['trial']}  {row['scenario']} #{row['repeat']}  {about}  {row['requests']} requests"
        typer.echo(" ".join(clean(line).split("\n")))


def _row(cassette: "Cassette") -> dict[str, Any]:
    mutant = cassette.mutant
    return {
        "trial": cassette.trial,
        "scenario": cassette.scenario,
        "repeat": cassette.repeat,
        "mutant": mutant.id if mutant else "",
        "operator": mutant.operator if mutant else "",
        "requests": len(cassette.takes),
        "ending": cassette.ending,
    }


def _print(cassette: "Cassette", shown: "Replay", as_json: bool) -> None:
    from agentmut.report import render_replay

    if as_json:
        trace = shown.execution.trace.model_dump(mode="json", exclude_defaults=True)
        checks = [check.model_dump(mode="json") for check in shown.result.checks]
        outcome = {"outcome": shown.result.outcome.value, "reason": shown.result.reason}
        print_json(
            {
                **_row(cassette),
                **outcome,
                "checks": checks,
                "unused": shown.unused,
                "problem": shown.problem,
                "trace": trace,
            }
        )
    else:
        typer.echo(render_replay(cassette, shown), nl=False)
