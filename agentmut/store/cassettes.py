"""Cassettes on disk: one file for each trial, next to the result of the run that executed it."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from agentmut._base import (
    StoreError,
    UsageError,
    first_fault,
    make_private_folder,
    storable_json,
    write_private,
)
from agentmut.nouns import Cassette

FOLDER = "cassettes"


def write_cassette(run: Path, cassette: Cassette) -> None:
    """Keep a cassette in a run's folder, whole or not at all. Raises `StoreError`."""
    path = cassette_path(run, cassette.trial)
    try:
        make_private_folder(path.parent)
        unfinished = path.with_suffix(".part")
        write_private(unfinished, storable_json(cassette, exclude_defaults=True))
        unfinished.replace(path)
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"cannot write {path}: {why}. Free some space, or leave out `record`.") from error


def cassette_path(run: Path, trial: str) -> Path:
    """Return the path of a trial's cassette in a run's folder."""
    return run / FOLDER / f"{trial}.json"


def read_cassette(path: Path) -> Cassette:
    """Read a cassette. Raise `UsageError` for an invalid file."""
    try:
        return Cassette.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}.") from None
    except ValidationError as error:
        raise UsageError(
            f"{path} is no recorded trial of agentmut: {first_fault(error).under()}. `agentmut replay` lists the "
            "recorded trials."
        ) from None


def cassettes_of(run: Path) -> Iterator[Path]:
    """Yield the cassettes of a run, by the name of their trial."""
    yield from sorted((run / FOLDER).glob("*.json"))
