"""Options that several verbs share, spelled once."""

from pathlib import Path
from typing import Annotated

import typer

ProjectPath = Annotated[
    Path, typer.Option("--project", "-p", help="The project file, or the folder that holds agentmut.yaml.")
]
AgentRef = Annotated[
    str | None,
    typer.Option("--agent", help="module:object that a test specification's `agent` stands for."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on stdout.")]
Classes = Annotated[
    list[str] | None, typer.Option("--class", help="Only operators of this class: prompt, tool, ...")
]
Operators = Annotated[
    list[str] | None, typer.Option("--operator", help="Only this operator: prompt.drop_instruction, ...")
]
Mutants = Annotated[
    list[str] | None, typer.Option("--mutant", help="Only this mutant: its id, or the beginning of it.")
]
Scenarios = Annotated[list[str] | None, typer.Option("--scenario", help="Only this scenario, by name.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of every random choice of the run.")]
RunId = Annotated[str | None, typer.Argument(help="The run's id; the latest one when left out.")]
