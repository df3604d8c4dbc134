"""`agentmut schema`: the JSON Schema of what `--json` prints."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.delivering import deliver


def schema(
    verb: Annotated[
        list[str] | None,
        typer.Argument(metavar="VERB", help="The verb, such as run, or baseline save; all if left out."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write into this file instead of stdout.")
    ] = None,
) -> None:
    """Print the JSON Schema of what `--json` prints, of one verb or of all.

    The version of a document rises if a key is removed or changes its meaning. New keys do not raise it.

    Example: agentmut schema run --output run.schema.json
    """
    from agentmut.cli.json_documents import schema_text

    deliver(schema_text(" ".join(verb) if verb else None), output)
