"""Files of recorded runs: found by patterns, recognised by what they hold, and read."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from agentmut._base import PassScore, UsageError, without_cyclic_collection
from agentmut.nouns import AgentConfig, BrokenRecord, ForeignTrial, RecordPlace
from agentmut.seams import TraceFile
from agentmut.trace_formats.format_calls import AUTO, FORMAT_SECONDS, TraceFormats
from agentmut.trace_formats.outcomes import OUTCOME, Places, decided, deciding_score

HEAD = 64 * 1024
"""Bytes of a file by which its format is recognised."""
_CHUNK = 1 << 20
_LARGEST = {"time": 253_402_300_799.0, "price": 1e15, "score": 1e300}
"""A time in seconds since the epoch is before the year 10000; sums of larger prices and scores might be infinite."""
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""The first bytes of gzip and of zstd, by which exporters and stores of objects compress."""


@dataclass(frozen=True)
class TraceReport:
    """What was read: trials in the order of the files, and records that could not be read."""

    trials: tuple[ForeignTrial, ...]
    broken: tuple[BrokenRecord, ...]
    formats: tuple[str, ...]
    """The formats of the files, each once, sorted."""
    digest: str
    """SHA-256 of the contents of the files."""

    @cached_property
    def config(self) -> AgentConfig:
        """Return the agent of the records: each part as most trials have it, and the tools of all trials."""
        prompts = Counter(trial.config.prompt for trial in self.trials if trial.config.prompt)
        models = Counter(
            trial.config.model.model_dump_json() for trial in self.trials if trial.config.model.name
        )
        tools = {tool.name: tool for trial in self.trials for tool in trial.config.tools}
        known = {"prompt": prompts.most_common(1)[0][0]} if prompts else {}
        found = AgentConfig(**known, tools=tuple(tools.values()))
        if not models:
            return found
        kind = type(found.model)
        return found.model_copy(update={"model": kind.model_validate_json(models.most_common(1)[0][0])})

    @property
    def prompts(self) -> int:
        """Return how many different prompts the trials had."""
        return len({trial.config.prompt for trial in self.trials if trial.config.prompt})


def found_files(patterns: Sequence[str], root: Path) -> tuple[TraceFile, ...]:
    """Return the files that glob patterns name, each once, sorted by path.

    Raises `UsageError` for a pattern that no file fits.
    """
    found: dict[Path, TraceFile] = {}
    for pattern in patterns:
        path = Path(pattern)
        base, relative = (
            (Path(path.anchor), path.relative_to(path.anchor)) if path.is_absolute() else (root, path)
        )
        itself = base / relative  # a file's own name may look like a pattern
        files = (
            [itself] if itself.is_file() else [each for each in base.glob(str(relative)) if each.is_file()]
        )
        if not files and itself.exists():
            raise UsageError(
                f"{pattern!r} is no file. Name a file with recorded runs, or a pattern such as runs/*.jsonl"
            )
        if not files:
            raise UsageError(
                f"no file fits {pattern!r} in {root}. Name a file with recorded runs, or a pattern like 'runs/*.jsonl'."
            )
        found |= {each.resolve(): TraceFile(each, _relative_path(each, root)) for each in files}
    return tuple(found[path] for path in sorted(found))


class FilesByFormat(NamedTuple):
    """Files by their format."""

    files: dict[str, tuple[TraceFile, ...]]
    unread: tuple[BrokenRecord, ...] = ()
    """Files that no format recognises, among others: a folder of traces holds other files, too."""


def by_format(
    files: Sequence[TraceFile],
    wanted: str = AUTO,
    *,
    may_be_empty: bool = False,
    seconds: float = FORMAT_SECONDS,
) -> FilesByFormat:
    """Return the files of each format: all files under `wanted`, or each under the format of its content.

    A call of a format of another package may take `seconds`.

    A file that no format recognises is set aside. Raises `UsageError` for an unknown format, and where no file is
    left unless that `may_be_empty`.
    """
    formats = TraceFormats(seconds)
    found: dict[str, tuple[TraceFile, ...]] = {}
    unread: list[BrokenRecord] = []
    for file in files:
        name = _recognised(file, formats) if wanted == AUTO else wanted
        if isinstance(name, BrokenRecord):
            unread.append(name)
        else:
            found[name] = (*found.get(name, ()), file)
    if not found and unread and not may_be_empty:
        raise UsageError(str(unread[0]))
    return FilesByFormat(found, tuple(unread))


def read_traces(
    files: Sequence[TraceFile], wanted: str = AUTO, seconds: float = FORMAT_SECONDS
) -> TraceReport:
    """Read files of one format, or each file in the format of its content.

    A call of a format of another package may take `seconds`.

    Raises `UsageError` where no format recognises any file, and for an unknown format.
    """
    formats = TraceFormats(seconds)
    trials: list[ForeignTrial] = []
    grouped = by_format(files, wanted, seconds=seconds)
    broken = list(grouped.unread)
    with without_cyclic_collection():
        for name, own in grouped.files.items():
            for found in formats.read(name, own):
                checked = found if isinstance(found, BrokenRecord) else _storable(found)
                if isinstance(checked, BrokenRecord):
                    broken.append(checked)
                else:
                    trials.append(checked)
    return TraceReport(tuple(trials), tuple(broken), tuple(sorted(grouped.files)), _digest(files))


def decided_together(
    files: Sequence[TraceFile],
    wanted: str,
    least: PassScore,
    places: Places,
    seconds: float = FORMAT_SECONDS,
) -> tuple[TraceReport, str]:
    """Read files whose tools have scores of their own; return the runs, and the name of the score that decides.

    Where two formats have different deciding scores, each run has its own under the name `outcome`. Raises what
    `read_traces` and `deciding_score` raise.
    """
    grouped, unread = by_format(files, wanted, seconds=seconds)
    if len(grouped) < 2:
        report = read_traces(files, wanted, seconds)
        return report, deciding_score(report.trials, None, least, places)
    reports = {name: read_traces(own, name, seconds) for name, own in grouped.items()}
    scores = {name: deciding_score(each.trials, None, least, places) for name, each in reports.items()}
    known = set(filter(None, scores.values()))
    trials = [
        decided(trial, scores[name], least) if len(known) > 1 else trial
        for name, each in reports.items()
        for trial in each.trials
    ]
    broken = tuple(one for each in reports.values() for one in each.broken)
    report = TraceReport(tuple(trials), unread + broken, tuple(sorted(grouped)), _digest(files))
    return report, OUTCOME if len(known) > 1 else next(iter(known), "")


def completed(config: AgentConfig, recorded: AgentConfig) -> AgentConfig:
    """Return the project's config, with its missing parts taken from the records."""
    model = config.model if config.model.name else recorded.model
    found = {
        "prompt": config.prompt or recorded.prompt,
        "tools": config.tools or recorded.tools,
        "model": model,
    }
    return config.model_copy(update=found)


def _storable(trial: ForeignTrial) -> ForeignTrial | BrokenRecord:
    """Return a run whose numbers can be kept; JSON, and so the store, has no infinity."""
    trace = trial.trace
    told = {
        "time": (
            trial.started or 0.0,
            trace.seconds,
            *(n for s in trace.steps for n in (s.started, s.seconds)),
        ),
        "price": (trace.usd or 0.0, *(step.usd or 0.0 for step in trace.steps)),
        "score": tuple(score.value for score in trial.scores.values()),
    }
    for name, values in told.items():
        if not all(abs(value) <= _LARGEST[name] for value in values):  # so not a number that is none, either
            return BrokenRecord(
                place=trial.place, reason=f"a {name} of the run is no number that can be kept"
            )
    return trial


def _recognised(file: TraceFile, formats: TraceFormats) -> str | BrokenRecord:
    """Return the format of a file, or why it has none."""

    def unread(why: str) -> BrokenRecord:
        return BrokenRecord(place=RecordPlace(file=file.shown), reason=why)

    try:
        with file.path.open("rb") as opened:
            head = opened.read(HEAD)
    except OSError as error:
        return unread(f"it cannot be read: {error.strerror}")
    if not head.strip():
        return unread("it is empty: no run is recorded in it. Name another file, or record runs again")
    if head.startswith(_COMPRESSED):
        return unread("it is compressed. Unpack it first, with `gunzip` or `unzstd`")
    fits = formats.recognised_by(head)
    if len(fits) == 1:
        return fits[0]
    known = ", ".join(fits or formats.names)
    said = "more than one format recognises it" if fits else "no format recognises it"
    return unread(f"{said}. Name its format, which is one of {known}")


def _digest(files: Sequence[TraceFile]) -> str:
    total = hashlib.sha256()
    for file in files:
        with file.path.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                total.update(chunk)
        total.update(b"\0")
    return total.hexdigest()


def _relative_path(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
