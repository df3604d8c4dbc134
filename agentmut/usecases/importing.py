"""The import of runs that other tools recorded, from files into the project's store."""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import (
    Frozen,
    PassScore,
    UsageError,
    __version__,
    digest_of,
    storable_json,
    without_cyclic_collection,
)
from agentmut.nouns import BrokenRecord, ForeignTrial, ImportedAs, ImportedOutcome, ImportedTrial
from agentmut.project import FILE_NAME, FOLDER, Project, load_project, redactor
from agentmut.recording import Redactor, secret_values, short_secrets
from agentmut.store import Store
from agentmut.trace_formats import (
    EVALUATORS,
    FORMAT_SECONDS,
    Places,
    TraceReport,
    by_format,
    deciding_score,
    found_files,
    passed_by,
    read_traces,
    scenario_of,
    why_left_out,
)
from agentmut.usecases.runtime import store_beside, store_place

PLACES = Places("--")
_VERSIONS = ("gen_ai.agent.version", "agent.version", "version", "service.version", "ls_version")
"""Fields of records that name the version of an agent, the most particular one first."""


UNFINISHED_SECONDS = 3600.0
"""How long after its last span a run whose first span is missing may still be at work. Then the first span stands
elsewhere, as of a trace that began in another service."""
_TOGETHER = 64
"""Runs that are searched for secrets at once."""


class ImportReport(Frozen):
    """The runs that an import has added to the store."""

    schema_version: int = 1
    kind: str = "import"
    agentmut_version: str = __version__
    formats: dict[str, int]
    """Runs that were read, by format."""
    added: int
    """Runs that the store did not have."""
    known: int
    outcomes: dict[str, int]
    """How many runs passed, failed, are not judged, and are no evidence."""
    scenarios: int
    earlier: int = 0
    """Runs that were left out since they started before the time asked for, or their start is not known."""
    unfinished: int = 0
    """Runs that were left to the next import: they seem to be still at work, so that a part of them is missing."""
    masked: int = 0
    """Runs from which secrets were taken out."""
    broken: tuple[BrokenRecord, ...] = ()
    stored: int
    """Imported runs in the store, all together."""
    stored_bytes: int


class ImportWish(NamedTuple):
    """The options for reading the records."""

    format: str = "auto"
    scenario_by: str | None = None
    """The field of a record that names its scenario."""
    outcome: str | None = None
    """`reward`, another recorded score, or `evaluators`."""
    pass_score: PassScore = None
    since: float | None = None
    """Seconds since the epoch."""
    may_be_empty: bool = False
    """Whether files without any run are no error: what writes them may have just begun."""


def import_traces(
    files: Sequence[str],
    project: str | Path = ".",
    wish: ImportWish | None = None,
    *,
    now: Callable[[], float] = time.time,
) -> ImportReport:
    """Store the runs of files for a project, or for a folder without one: `agentmut import`.

    Secrets are taken out first. A run that the store has already is not kept twice. Raises `UsageError` for files
    that cannot be read as runs, and for fields and scores that the records do not have.
    """
    asked = wish or ImportWish()
    with foreign_store(project) as home, without_cyclic_collection():
        if home.project is not None and not home.project.store.keeps_texts:
            raise UsageError(
                "an import keeps texts of runs, but store.texts of the project keeps none. Import into another folder"
            )
        found = found_files(files, home.root)
        seconds = home.project.execution.evaluator_timeout if home.project else FORMAT_SECONDS
        grouped = by_format(found, asked.format, may_be_empty=asked.may_be_empty, seconds=seconds)
        reports = {name: read_traces(own, name, seconds) for name, own in grouped.files.items()}
        report = _import_into(home.store, reports, asked, _redactor(home), now())
        return report.model_copy(update={"broken": (*grouped.unread, *report.broken)})


class ForeignHome(NamedTuple):
    """The place where imported runs are stored."""

    store: Store
    root: Path
    project: Project | None
    """None in a folder without a project file."""


@contextmanager
def foreign_store(project: str | Path) -> Iterator[ForeignHome]:
    """Open the store of a project, or of a folder that has no project file, for imported runs alone.

    Runs of the project may be under way meanwhile: they do not look at imported runs, nor an import at their trials.
    """
    path = Path(project).resolve()
    alone = path.is_dir() and not (path / FILE_NAME).is_file()
    loaded = None if alone else load_project(path)
    root = path if loaded is None else loaded.root
    with store_beside(store_place(loaded) if loaded else root / FOLDER / "store.db") as store:
        yield ForeignHome(store, root, loaded)


def _redactor(home: ForeignHome) -> Redactor:
    if home.project is not None:
        return redactor(home.project)
    return Redactor(secret_values((), os.environ), (), short_secrets(os.environ))


def _import_into(
    store: Store, reports: dict[str, TraceReport], wish: ImportWish, redact: Redactor, now: float
) -> ImportReport:
    read = [trial for report in reports.values() for trial in report.trials]
    broken = tuple(one for report in reports.values() for one in report.broken)
    if not read and not wish.may_be_empty:
        first = str(broken[0]) if broken else "they hold no runs"
        raise UsageError(f"there is no run in these files: {first}. Name files with recorded runs.")
    if wish.outcome and read:
        deciding_score(read, wish.outcome, wish.pass_score, PLACES)  # some tool at least has to have it
    chosen = _chosen(reports, wish, now)
    clean = list(_without_secrets(chosen.trials, redact))
    masked = sum(kept is not before for kept, before in zip(clean, chosen.trials, strict=True))
    # our own exports come last: a run that its original gives, too, keeps the scenario and the outcome of the export
    of_sources = zip(chosen.sources, clean, strict=True)
    identified = list(_identified(sorted(of_sources, key=lambda each: each[0][1])))
    added = store.imports.add(identified, now, dict(_earlier_digests(identified)))
    totals = store.imports.totals()
    return ImportReport(
        formats={name: len(report.trials) for name, report in reports.items()},
        added=added,
        known=len(identified) - added,
        outcomes=dict(sorted(Counter(trial.outcome.value for _, trial in identified).items())),
        scenarios=len({trial.scenario for _, trial in identified}),
        earlier=chosen.earlier,
        unfinished=chosen.unfinished,
        masked=masked,
        broken=broken,
        stored=totals.trials,
        stored_bytes=totals.bytes,
    )


class _Chosen(NamedTuple):
    """The runs that are to be kept, and how many were left out."""

    trials: list[ImportedTrial]
    sources: list[tuple[str, bool]]
    """For each run: its format, and whether agentmut exported it."""
    earlier: int
    unfinished: int


def _chosen(reports: dict[str, TraceReport], wish: ImportWish, now: float) -> _Chosen:
    """Leave out runs that started too early, and runs that may still be at work."""
    trials: list[ImportedTrial] = []
    sources: list[tuple[str, bool]] = []
    earlier = unfinished = 0
    for name, report in reports.items():
        score = _deciding_score(report, wish)
        for trial in report.trials:
            if wish.since is not None and (trial.started is None or trial.started < wish.since):
                earlier += 1
            elif _is_at_work(trial, now):
                unfinished += 1
            else:
                trials.append(_imported(trial, name, report.digest, wish, score))
                sources.append((name, trial.imported_as is not None))
    return _Chosen(trials, sources, earlier, unfinished)


def _is_at_work(trial: ForeignTrial, now: float) -> bool:
    """Return whether the rest of a run may still be written: a part of it would be kept beside the whole."""
    if not trial.unfinished or trial.started is None:
        return False
    return now - (trial.started + trial.trace.seconds) < UNFINISHED_SECONDS


def _deciding_score(report: TraceReport, wish: ImportWish) -> str:
    """Return the score that decides about the runs of one format: each tool has scores of its own."""
    if wish.outcome:
        return "" if wish.outcome == EVALUATORS else wish.outcome
    undecided = [trial for trial in report.trials if trial.imported_as is None]
    return deciding_score(undecided, None, wish.pass_score, PLACES)


def _imported(trial: ForeignTrial, name: str, files: str, wish: ImportWish, score: str) -> ImportedTrial:
    if trial.imported_as is not None:
        return _imported_again(trial, trial.imported_as, wish, score)
    outcome, reason = _outcome(trial, wish, score)
    return ImportedTrial(
        scenario=scenario_of(trial, wish.scenario_by, PLACES),
        outcome=outcome,
        reason=reason,
        version=_version(trial),
        format=name,
        files=files,
        trial=trial,
    )


def _imported_again(trial: ForeignTrial, known: ImportedAs, wish: ImportWish, score: str) -> ImportedTrial:
    """Return a run of another store's export as that store had it, but for what the wish says anew."""
    before = trial.model_copy(update={"imported_as": None, "place": known.place})
    outcome, reason = _outcome(trial, wish, score) if wish.outcome else (known.outcome, known.reason)
    scenario = scenario_of(trial, wish.scenario_by, PLACES)
    told = {**known.model_dump(exclude={"place"}), "outcome": outcome, "reason": reason, "scenario": scenario}
    return ImportedTrial(**told, trial=before)


def _outcome(trial: ForeignTrial, wish: ImportWish, score: str) -> tuple[ImportedOutcome, str]:
    if why := why_left_out(trial, score):
        return ImportedOutcome.NO_EVIDENCE, why
    if not score:
        return ImportedOutcome.UNJUDGED, ""
    passed = passed_by(trial, score, wish.pass_score)
    outcome = ImportedOutcome.PASS if passed else ImportedOutcome.FAIL
    return outcome, trial.scores[score].reason or f"{score} is {trial.scores[score].value:g}"


def _version(trial: ForeignTrial) -> str:
    """Return the agent's version; in an export of agentmut, the mutant, or else the run of the trial."""
    if mutant := trial.fields.get("agentmut.mutant"):
        return f"mutant {mutant}"
    stated = next((trial.fields[name] for name in _VERSIONS if trial.fields.get(name)), None)
    if isinstance(stated, str | int | float):
        return str(stated)
    run, config = trial.fields.get("agentmut.run"), trial.config
    # the digest of what is not known would be one version of all agents
    return f"run {run}" if run and not (config.prompt or config.tools) else config.digest[:12]


def _identified(
    trials: Iterable[tuple[tuple[str, bool], ImportedTrial]],
) -> Iterator[tuple[str, ImportedTrial]]:
    """Yield each run with its identifying digest, which depends neither on its file nor on its evaluators.

    A run of agentmut's own export is known by its campaign, mutant, scenario and repeat, in whatever format it
    comes. The number of its like before it is a part of the digest: two runs that are alike are two runs. Each comes
    with its source, the format and whether an export of imported runs wrote it: the same runs from another source
    are counted anew, since they are no further runs.
    """
    seen: Counter[tuple[str, tuple[str, bool]]] = Counter()
    for source, one in trials:
        digest = digest_of(["export", *own]) if (own := one.trial.exported_as) else _content_digest(one.trial)
        seen[digest, source] += 1
        yield digest_of([digest, seen[digest, source]]), one


def _earlier_digests(found: Iterable[tuple[str, ImportedTrial]]) -> Iterator[tuple[str, str]]:
    """Yield the digests that runs of our own exports had in earlier versions, each with the digest of today."""
    for digest, one in found:
        if not one.trial.exported_as:
            continue
        yield digest_of([_content_digest(one.trial), 1]), digest
        turns, fields = one.trial.turns, one.trial.fields
        told = {name: value for name, value in fields.items() if not name.startswith("agentmut.")}
        plain = {"scenario": str(turns[0]), "fields": told}  # what a trajectory was read as at first
        yield digest_of([_content_digest(one.trial.model_copy(update=plain)), 1]), digest


def _content_digest(trial: ForeignTrial) -> str:
    content = storable_json(trial, exclude={"place", "scores"}, exclude_defaults=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _without_secrets(made: Sequence[ImportedTrial], redact: Redactor) -> Iterator[ImportedTrial]:
    """Yield runs without secrets; a run without secrets is the very same object.

    Many are looked at together: a text takes its time for each form of secret, however short it is. Runs of one
    agent share its config, which is looked at once.
    """
    known: dict[str, bool] = {}

    def is_clean_config(imported: ImportedTrial) -> bool:
        config = storable_json(imported.trial.config, exclude_defaults=True)
        if config not in known:
            known[config] = _is_clean(config, redact)
        return known[config]

    for at in range(0, len(made), _TOGETHER):
        some = made[at : at + _TOGETHER]
        if all(map(is_clean_config, some)) and _is_clean("\n".join(map(_own_text, some)), redact):
            yield from some
            continue
        for one in some:
            yield one if is_clean_config(one) and _is_clean(_own_text(one), redact) else redact.model(one)


_NO_SECRETS: Any = {"trial": {"config": True, "trace": {"steps": {"__all__": {"usage"}}}}}
"""What is looked at elsewhere, and numbers of tokens: their names alone look like the names of secrets."""


def _own_text(imported: ImportedTrial) -> str:
    """Return a run without its config. A default value is no secret, and would be half of the text."""
    return storable_json(imported, exclude_defaults=True, exclude=_NO_SECRETS)


def _is_clean(written: str, redact: Redactor) -> bool:
    return redact.text(written) == written
