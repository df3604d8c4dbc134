"""Options that several verbs share, spelled once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from agentmut.cli import completing

ProjectPath = Annotated[
    Path, typer.Option("--project", "-p", help="The project file, or the folder that holds agentmut.yaml.")
]
AgentRef = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help="The agent as module:object, where --project is a test specification of the AgentAssay paper.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on stdout.")]
Classes = Annotated[
    list[str] | None,
    typer.Option(
        "--class",
        help="Only operators of this class: prompt, tool, ...",
        autocompletion=completing.classes,
    ),
]
Operators = Annotated[
    list[str] | None,
    typer.Option(
        "--operator",
        help="Only this operator, or the operators that fit a pattern: prompt.drop_instruction, 'tool.r*'.",
        autocompletion=completing.operators,
    ),
]
Intents = Annotated[
    list[str] | None,
    typer.Option(
        "--intent",
        help="Only changes that should be noticed (degrade), or changes that should not matter (preserve).",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help="Only mutants of this place: prompts/system.md, prompts/system.md:10-20, tools/NAME, model, "
        "a document's name.",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        help="At most this many mutants, with a fair share for each operator, three of four degrading. Pairs are made "
        "of these mutants only.",
    ),
]
InDiff = Annotated[
    str | None,
    typer.Option("--in-diff", help="Only mutants that touch a change of the agent since this git revision."),
]
Usd = Annotated[
    float | None,
    typer.Option(
        "--usd", min=0.01, help="Spend at most this many US dollars, whatever the project file says."
    ),
]
MostTrials = Annotated[
    int | None,
    typer.Option("--trials", min=1, help="Run at most this many trials, whatever the project file says."),
]
Minutes = Annotated[
    float | None,
    typer.Option("--minutes", min=0.1, help="Stop after this many minutes, whatever the project file says."),
]
Precision = Annotated[
    float | None,
    typer.Option(
        "--precision",
        min=0.01,
        max=0.49,
        help="End once the score is known within this distance on each side, such as 0.05. A random sample may do.",
    ),
]
Mutants = Annotated[
    list[str] | None,
    typer.Option(
        "--mutant",
        help="Only this mutant: its id, or the beginning of it.",
        autocompletion=completing.mutants,
    ),
]
TrialsOf = Annotated[
    str | None,
    typer.Option(
        "--mutant",
        help="Only trials of this mutant, by its id or the beginning of it; `original` for the unchanged agent.",
        autocompletion=completing.mutants,
    ),
]
Pair = Annotated[
    list[str] | None, typer.Option("--pair", help="Also these two mutants at once: ID+ID.", metavar="ID+ID")
]
SecondOrder = Annotated[
    int | None, typer.Option("--second-order", min=1, help="Also this many sampled pairs of mutants.")
]
Selective = Annotated[
    float | None,
    typer.Option(
        "--selective",
        help="Keep this share of the operators: those with kill rates nearest to one half in earlier runs.",
    ),
]
Scenarios = Annotated[
    list[str] | None,
    typer.Option("--scenario", help="Only this scenario, by name.", autocompletion=completing.scenarios),
]
ScenarioSample = Annotated[
    int | None,
    typer.Option(
        "--sample-scenarios",
        min=1,
        help="At most this many scenarios, drawn at random, the same ones in every run. What they notice, the whole "
        "suite notices too.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of every random choice of the run.")]
Correction = Annotated[
    Literal["holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"] | None,
    typer.Option("--correction", help="Method that corrects false FAILs for the number of scenarios."),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Do not ask first, even if no budget bounds the run or it may exceed budget.ask_above.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show everything, not only what matters most.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run every trial again, and reuse nothing.")]
RunId = Annotated[
    str | None,
    typer.Argument(help="The run's id; the latest run when left out.", autocompletion=completing.runs),
]
