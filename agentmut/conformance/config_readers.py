"""What `check_config_reader` looks at."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentmut._base import ProjectError, one_line
from agentmut.seams import ConfigFile, FoundAgent, WrittenText


def config_reader_faults(reader: Any, files: Sequence[Path], others: Sequence[Path]) -> Iterator[str]:
    """Yield everything that is wrong with a reader, tried on files of its format and on others."""
    for path in others:
        try:
            if reader.recognises(ConfigFile(path)):
                yield f"it recognises {path.name}, which has another format"
        except ProjectError:  # the file itself cannot be read
            continue
        except Exception as error:
            yield f"recognises() raised {type(error).__name__} for {path.name}: {one_line(error)}"
    for path in files:
        yield from _file_faults(reader, path)


def _file_faults(reader: Any, path: Path) -> Iterator[str]:
    try:
        if not reader.recognises(ConfigFile(path)):
            yield f"it does not recognise {path.name}"
        first, again = (reader.read(ConfigFile(path)) for _ in range(2))
    except Exception as error:
        yield f"it could not read {path.name}: {type(error).__name__}: {one_line(error)}"
        return
    if not isinstance(first, tuple) or not all(isinstance(one, FoundAgent) for one in first):
        yield f"read() must give a tuple of agentmut.seams.FoundAgent for {path.name}"
        return
    if not first:
        yield f"read() gave no agent for {path.name}; raise ProjectError with what the user can do instead"
    if first != again:
        yield f"it read {path.name} twice and differently"
    for name, times in Counter(one.name for one in first).items():
        if times > 1:
            yield f"{path.name}: {times} agents have the name {name!r}; each needs a name of its own"
    for agent in first:
        for part in agent.prompt:
            yield from _place_faults(part, path)


def _place_faults(part: WrittenText, path: Path) -> Iterator[str]:
    """Yield the lines of a part that are not where the part says."""
    if part.line is None or not part.by_line:
        return
    lines = (path.parent / part.file if part.file else path).read_text("utf-8").splitlines()
    for number, text in enumerate(part.text.splitlines(), part.line):
        written = lines[number - 1] if 0 < number <= len(lines) else ""
        if text.strip() not in written:
            yield f"{path.name}: {text.strip()[:60]!r} is said to stand on line {number}, where {written[:60]!r} stands"
            return
