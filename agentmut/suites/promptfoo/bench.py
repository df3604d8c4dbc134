"""Run promptfoo once for all trials that wait at the same time: it starts in seconds, a test takes hardly any.

Every trial is a cell of the evaluation: its test, its prompt, and one of the providers that stand in the place of the
config's. A provider gives cells that no trial waits for an error at once, so nothing is run or graded in vain.
"""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import CaseError, UsageError, digest_of, one_line, scratch_folder
from agentmut.adapters import Output, run_program
from agentmut.suites.promptfoo.cases import Case, cases_of
from agentmut.suites.promptfoo.cli import HERE, Place, last_words, launch, written
from agentmut.suites.promptfoo.promptfoo_settings import INSTALL, PromptfooSettings

GATHER = 0.1
"""Seconds for which the first trial of an evaluation waits for others."""
LONGEST_LINE = 64 * 2**20
"""Bytes of a question or an answer between promptfoo and the campaign."""
TOO_OLD = "agentmut: this version of promptfoo"
"""The beginning of slot.cjs's error when no test is named to it."""
LISTING = 120.0
"""Seconds that promptfoo may take to tell its tests."""


class Suite(NamedTuple):
    """The content of a config."""

    cases: Mapping[str, Case]
    prompts: int
    version: str
    providers: Sequence[Any]
    """The providers as the config lists them."""
    digest: str
    """A digest of the tests, and of the files that their assertions name."""


@dataclass
class Job:
    """A trial that waits for promptfoo."""

    case: Case
    asked: "asyncio.Future[dict[str, Any]]"
    """promptfoo's question to the agent: `prompt`, `vars`."""
    answer: "asyncio.Future[dict[str, Any]]"
    """A provider's response, or `delegate`: the provider that is to be called."""
    response: "asyncio.Future[dict[str, Any]]"
    """The response of such a provider."""
    result: "asyncio.Future[dict[str, Any]]"
    """The result of promptfoo."""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def give_up(self, error: Exception) -> None:
        """Tell the waiting trial that no result will come."""
        for future in (self.asked, self.response, self.result):
            if not future.done():
                future.set_exception(error)
                future.exception()  # looked at, whether anybody waits or not

    def leave(self) -> None:
        """Mark the trial as ended, however it ended."""
        if not self.answer.done():
            self.answer.set_result({"error": "agentmut: the run has ended"})
        self.over.set()


class Bench:
    """Runs promptfoo for waiting trials, one evaluation at a time. It belongs to one process."""

    def __init__(self, settings: PromptfooSettings, place: Place) -> None:
        self.settings = settings
        self._place = place
        self._waiting: list[Job] = []
        self._worker: asyncio.Task[None] | None = None

    @cached_property
    def suite(self) -> Suite:
        """Return the content of the config, as promptfoo reads it. Raise `UsageError`."""
        import subprocess

        with scratch_folder() as folder:
            started = launch(self.settings, self._place, folder, _slots(folder, [()], 0, ""), 16)
            try:
                done = subprocess.run(
                    started.arguments, cwd=started.folder, env=dict(started.variables), check=False,
                    capture_output=True, stdin=subprocess.DEVNULL, timeout=LISTING,
                )  # fmt: skip
                found = written(folder, done.stdout + b" " + done.stderr, done.returncode)
            except (CaseError, OSError, subprocess.TimeoutExpired) as error:
                said = str(error) if isinstance(error, CaseError) else one_line(error)
                raise UsageError(f"suite.promptfoo: {self.settings.path} cannot be read. {said}") from None
        return suite_of(found, Path(self._place.root, self.settings.path).parent)

    def submit(self, case: Case) -> Job:
        """Queue a test to be judged soon."""
        loop = asyncio.get_running_loop()
        job = Job(
            case, loop.create_future(), loop.create_future(), loop.create_future(), loop.create_future()
        )
        self._waiting.append(job)
        if self._worker is None or self._worker.done():
            # in no trial's context: it works for several
            self._worker = loop.create_task(self._work(), context=Context())
        return job

    async def _work(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHER)
            jobs = [job for job in self._waiting if not job.over.is_set()]
            self._waiting.clear()
            if not jobs:
                continue
            try:
                await self._evaluate(jobs)
            except Exception as error:
                said = error if isinstance(error, CaseError) else CaseError(f"promptfoo: {one_line(error)}")
                for job in jobs:
                    job.give_up(said)

    async def _evaluate(self, jobs: Sequence[Job]) -> None:
        """Run one evaluation; stop early when no trial waits for it any more."""
        cells, slots = self._cells(jobs)
        token = secrets.token_hex(16)
        providers = _ProviderServer(cells, token)
        server = await asyncio.start_server(providers.serve, "127.0.0.1", 0, limit=LONGEST_LINE)
        with scratch_folder() as folder:
            output = Output()
            async with server:
                port = server.sockets[0].getsockname()[1]
                files = _slots(folder, slots, port, token)
                started = launch(self.settings, self._place, folder, files, len(jobs) + 1)
                await _run_unless(run_program(started, output), [job.over for job in jobs])
            if all(job.over.is_set() for job in jobs):
                return
            _hand_out(written(folder, last_words(output), output.code), cells)

    def _cells(self, jobs: Sequence[Job]) -> tuple[dict[str, Job], list[tuple[str, ...]]]:
        """Return the cell of each trial, and each provider's cells: trials of the same case need separate cells."""
        taken: Counter[str] = Counter()
        cells: dict[str, Job] = {}
        slots: list[tuple[str, ...]] = []
        for job in jobs:
            slot = taken[job.case.name]
            taken[job.case.name] += 1
            cell = f"{job.case.test}-{slot * self.suite.prompts + job.case.prompt}"
            cells[cell] = job
            slots += [()] * (slot + 1 - len(slots))
            slots[slot] = (*slots[slot], cell)
        return cells, slots


class _ProviderServer:
    """Answers the providers of an evaluation, one line of JSON each way."""

    def __init__(self, cells: Mapping[str, Job], token: str) -> None:
        self._cells = cells
        self._token = token

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one call of a provider."""
        with suppress(ConnectionError, ValueError, asyncio.IncompleteReadError):
            question = await _line(reader)
            job = self._cells.get(str(question.get("cell")))
            if job is not None and secrets.compare_digest(str(question.get("token")), self._token):
                await self._answered(job, question, reader, writer)
        writer.close()

    async def _answered(
        self, job: Job, question: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if job.asked.done():
            await _write(writer, {"error": "agentmut: a test asked the agent twice"})
            return
        job.asked.set_result(question)
        answer = await job.answer
        await _write(writer, answer)
        if "delegate" in answer:
            response = await _line(reader)
            if not job.response.done():
                job.response.set_result(response)
            await _write(writer, {})


async def _line(reader: asyncio.StreamReader) -> dict[str, Any]:
    value = json.loads(await reader.readuntil(b"\n"))
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


async def _write(writer: asyncio.StreamWriter, value: Mapping[str, Any]) -> None:
    writer.write(json.dumps(value).encode() + b"\n")
    await writer.drain()


async def _run_unless(work: Coroutine[Any, Any, None], ends: Sequence[asyncio.Event]) -> None:
    """Do the work, unless all of these events happen before."""
    loop = asyncio.get_running_loop()
    working, ended = loop.create_task(work), loop.create_task(_all_of(ends))
    try:
        await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for task in (working, ended):
            task.cancel()
        await asyncio.gather(working, ended, return_exceptions=True)


async def _all_of(ends: Sequence[asyncio.Event]) -> None:
    for end in ends:
        await end.wait()


def _hand_out(found: Mapping[str, Any], cells: Mapping[str, Job]) -> None:
    rows = {f"{row['testIdx']}-{row['promptIdx']}": row for row in found["results"]["results"]}
    for cell, job in cells.items():
        if cell not in rows:
            job.give_up(
                CaseError("promptfoo gave no result for the test: it reads its tests otherwise each time")
            )
            continue
        if not job.asked.done():
            job.give_up(CaseError(f"promptfoo did not ask the agent: {one_line_of(rows[cell].get('error'))}"))
        if not job.result.done():
            job.result.set_result(rows[cell])


def one_line_of(error: Any) -> str:
    """Return a result's error in one line."""
    return " ".join(str(error or "it does not say why").split())[:400]


def _slots(folder: Path, slots: Sequence[Sequence[str]], port: int, token: str) -> list[str]:
    """Write the files of the providers, and return their names."""
    names = [f"slot-{number}.cjs" for number in range(len(slots))]
    module = json.dumps(str(HERE / "slot.cjs"))
    for number, (name, cells) in enumerate(zip(names, slots, strict=True)):
        told = json.dumps({"port": port, "token": token, "wanted": list(cells)})
        (folder / name).touch(0o600)
        (folder / name).write_text(f"module.exports = require({module})({number}, {told});\n", "utf-8")
    return names


def suite_of(found: Mapping[str, Any], folder: Path) -> Suite:
    """Return the content of a config in `folder`, from an evaluation in which no provider answered.

    Raises `UsageError`, also for a promptfoo that is too old to say which test it asks for.
    """
    version = str((found.get("metadata") or {}).get("promptfooVersion") or "unknown")
    rows = found["results"]["results"]
    if any(TOO_OLD in str(row.get("error")) for row in rows):
        raise UsageError(
            f"suite.promptfoo: promptfoo {version} does not say which test it asks for. Update it: {INSTALL}@latest"
        )
    cases = cases_of(found)
    tests = [(row["testCase"], row["prompt"].get("label")) for row in rows]
    return Suite(
        cases={case.name: case for case in cases},
        prompts=max(case.prompt for case in cases) + 1,
        version=version,
        providers=_listed((found.get("config") or {}).get("providers")),
        digest=digest_of([tests, [_content(file) for file in sorted(_files(tests, folder))]]),
    )


def _listed(providers: Any) -> Sequence[Any]:
    return providers if isinstance(providers, list) else [] if providers is None else [providers]


def _files(value: Any, folder: Path) -> set[Path]:
    """Return the files that texts such as `file://judge.py:name` name."""
    if isinstance(value, str):
        if not value.startswith("file://"):
            return set()
        name = value.removeprefix("file://")
        places = (folder / name, folder / name.rpartition(":")[0])
        return {place for place in places if place.is_file()}
    values = (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    )
    return set().union(*(_files(one, folder) for one in values))


def _content(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")
