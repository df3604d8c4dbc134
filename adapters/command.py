"""Adapter for any program in any language: each trial starts the program anew.

What the user says comes as an argument, in a file or on stdin; the answer goes to stdout or into a file. The program's
model requests are led through agentmut by environment variables, and a part of the config that it is told by a
placeholder is not changed there.
"""

import errno
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import (
    AdapterError,
    UnavailableError,
    UsageError,
    lacked_memory_since,
    memory_kills,
    scratch_folder,
)
from agentmut.adapters._shared.outside.agents import (
    CONFIG_FILE,
    SERVED,
    OutsideAgent,
    as_input,
    check_options,
    outside_trace,
    record_steps,
)
from agentmut.adapters._shared.outside.answers import NoAnswerError, answer_in, check_pointer
from agentmut.adapters._shared.outside.containers import (
    CONTAINER,
    PROJECT,
    SCRATCH,
    WORK,
    Container,
    Mount,
    engine_failed,
    new_name,
    node_name,
    options_of,
    prepared,
    remove,
    run_arguments,
    user_of,
)
from agentmut.adapters._shared.outside.placeholders import as_word, check_names, filled, names_in
from agentmut.adapters._shared.outside.programs import LIMIT, Launch, Output, run_program
from agentmut.adapters._shared.outside.shell import shell_line
from agentmut.adapters._shared.outside.workspace import WorkspaceCopy, variables_in
from agentmut.adapters._shared.outside.workspace_options import (
    KEPT_OF_OUTPUT,
    KEYS,
    PLACES,
    SHARED,
    WorkspacePlan,
    not_in_files,
    run_afterwards,
    working,
)
from agentmut.nouns import AgentConfig, AgentTrace, Mutant, WorkspaceEnd
from agentmut.recording import Trial, gone_file, in_daemon_thread
from agentmut.seams import AgentKeys, AgentSpec, KeepsWorkspace, TakesKeys

OWN = ("input", "input_file", "answer_file", CONFIG_FILE, "trial", *PLACES)
"""Placeholders besides the parts of the config."""
WHERE = "agent.command"
TRIAL_VARIABLE = "AGENTMUT_TRIAL"
KEPT_OF_STDERR = 8_000
"""Characters at its end that a trace holds."""
TOLD_OF_STDERR = 600
"""Characters at its end that an error says."""
LOOKED_AT = 64_000
"""Characters at its end that secrets are taken out of, before the rest is cut."""
Redact = Callable[[str], str]
_MACHINE = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class ProgramError(RuntimeError):
    """The program failed: it ended with an error code, wrote too much, or gave no answer."""


@dataclass(frozen=True)
class CommandAdapter(OutsideAgent, TakesKeys, KeepsWorkspace):
    """Runs `agent.command`, one process group for each trial: in the project's folder, or in a copy of a workspace."""

    working: WorkspacePlan | None = None
    container: Container | None = None

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        "command", '[node, agent.js, "{input}"]', frozenset({"shell", "answer", "options", "intercept"})
    )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "CommandAdapter":
        """Check the command and its placeholders, and that its program exists."""
        if not spec.command:
            raise UsageError("agent.command is missing: adapter command needs `command: [program, argument]`")
        names = [name for word in spec.command for name in names_in(word, WHERE)]
        check_names(names, config, OWN, WHERE)
        check_pointer(spec.answer)
        check_options(spec, config, (*KEYS, CONTAINER))
        place = working(spec, config)
        return cls(spec, config, config, frozenset(names), place, _container(spec))

    @property
    def carries(self) -> frozenset[str]:
        """Return the parts of the config that the program gets, or finds in its workspace."""
        return super().carries | ({"context"} if self.original.workspace else frozenset())

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why the program cannot get a mutant, in a phrase; empty if it can."""
        reasons = (not_in_files(edit, self.original) for edit in mutant.edits)
        return next(filter(None, reasons), "") or super().cannot_express(mutant)

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Start the program, wait for its end, and read its answer. Several turns are passed all at once."""
        # told by its servers, and by its own reading
        found_there = {
            "tools",
            *(["context"] if self.working else []),
        }
        trial.recorder.config_reads |= self.carries - found_there
        with scratch_folder() as files:
            copy = await in_daemon_thread(self._copied, files / "workspace", trial) if self.working else None
            launch = self._launch(as_input(turns), trial, files, copy)
            output, before = Output(), None if self.container else memory_kills()
            try:
                await self._run(launch, output)
            finally:
                trial.recorder.exit_code = output.code
                trial.recorder.stderr = _end(output, KEPT_OF_STDERR, trial.redact)
                record_steps(trial)
            self._check_end(output, trial.redact, before)
            trace = outside_trace(self._answer(output, files, trial.redact), trial, len(turns) - 1)
            return await self._with_workspace(trace, copy, launch, trial.redact)

    async def _run(self, launch: Launch, output: Output) -> None:
        """Run the program, here or in a container; a container that may still run afterwards is removed."""
        if not self.container:
            return await _run(launch, output)
        name = launch.arguments[launch.arguments.index("--name") + 1]
        ended = False
        try:
            await _run(launch, output)
            ended = not output.overflow and output.code is not None and output.code >= 0
        finally:
            if not ended:
                await remove(self.container.engine, name)

    def _copied(self, target: Path, trial: Trial) -> WorkspaceCopy:
        """Return a copy of the workspace with this mutant's files."""
        assert self.working
        root = Path(self.spec.root).resolve()
        names = {name: self.working.path_in(name, root) for name in self.original.workspace}
        texts = {names[one.name]: one.text for one in self.config.context if one.name in names}
        gone = {name: path for name, path in names.items() if path not in texts}
        trial.recorder.marks |= set(map(gone_file, gone))
        return self.working.workspace.copy(target, texts, gone.values())

    async def _with_workspace(
        self, trace: AgentTrace, copy: WorkspaceCopy | None, launch: Launch, redact: Redact
    ) -> AgentTrace:
        """Add to a trace the program's files and command outcomes in its workspace."""
        if not (copy and self.working):
            return trace
        changes, left_out = await in_daemon_thread(copy.changes)
        root = Path(self.spec.root).resolve()
        done = await run_afterwards(self.working, copy, root, launch.variables, launch.scratch or copy.folder)
        kept = (one.model_copy(update={"output": redact(one.output)[-KEPT_OF_OUTPUT:]}) for one in done)
        end = WorkspaceEnd(files=changes, left_out=left_out, commands=tuple(kept))
        return trace.model_copy(update={"workspace": end})

    def _launch(self, asked: JsonValue, trial: Trial, folder: Path, copy: WorkspaceCopy | None) -> Launch:
        root = Path(self.spec.root)
        place = copy.folder if copy else root
        words = {**{name: as_word(value) for name, value in self.values().items()}, **_files(folder, asked)}
        words |= {"input": as_word(asked), "trial": trial.id}
        words |= {"project": str(root.resolve()), "workspace": str(place.resolve())}
        inside = {**words, **_paths_inside(words, folder)} if self.container else words
        written = as_word(asked)
        if "input_file" in self.names:
            _write(Path(words["input_file"]), written, "the input")
        if CONFIG_FILE in self.names:
            _write(Path(words[CONFIG_FILE]), self.told_config().model_dump_json(indent=2), "the config")
        arguments, variables = self._command(inside)
        if copy and not self.container and "/" in arguments[0] and not (place / arguments[0]).exists():
            arguments = (str((root / arguments[0]).resolve()), *arguments[1:])
        by_stdin = not self.names & {"input", "input_file"}
        own = variables_in(place, os.environ) if copy else os.environ
        passed = {**trial.endpoints, TRIAL_VARIABLE: trial.id, **variables}
        if self.container:
            arguments = run_arguments(
                self.container, new_name(), arguments, self._mounts(folder, place), {*self.container.env, *passed},
                node=node_name(), user=user_of(self.container.engine), reads_stdin=by_stdin,
            )  # fmt: skip
        return Launch(
            arguments=arguments,
            folder=place,
            variables={**own, **passed},
            stdin=_encoded(written, "the input") if by_stdin else None,
            scratch=folder,
        )

    def _mounts(self, folder: Path, place: Path) -> tuple[Mount, ...]:
        """Return the folders that a container sees; the project itself is never written to."""
        root = Path(self.spec.root).resolve()
        mounts = [Mount(place.resolve(), WORK, read_only=not self.working), Mount(folder.resolve(), SCRATCH)]
        if "project" in self.names:
            mounts.append(Mount(root, PROJECT, read_only=True))
        return tuple(mounts)

    def _command(self, words: Mapping[str, str]) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """Return the arguments, and the environment variables that they need."""
        for name in sorted(self.names):
            _check_argument(words[name], name)
        if not self.spec.shell:
            return tuple(filled(word, words.__getitem__, WHERE) for word in self.spec.command), {}
        line, held = shell_line(self.spec.command[0], WHERE)
        return ("/bin/sh", "-c", line), {variable: words[name] for variable, name in held.items()}

    def _check_end(self, output: Output, redact: Redact, memory_before: int | None) -> None:
        if output.overflow:
            raise ProgramError(
                f"the program wrote more than {LIMIT // 2**20} MB to {output.overflow}, and was ended"
            )
        by_system = (-signal.SIGKILL, *((128 + signal.SIGKILL,) if self.spec.shell or self.container else ()))
        if self.container and engine_failed(self.container.engine, output.code, output.stderr):
            raise UnavailableError(
                f"{self.container.engine} could not run the container{_last_words(output, redact)}"
            )
        if output.code in by_system and lacked_memory_since(memory_before):
            raise UnavailableError(
                "the program was killed (SIGKILL), as the system does when memory runs out"
            )
        if output.code:
            raise ProgramError(f"the program {_ended(output.code)}{_last_words(output, redact)}")

    def _answer(self, output: Output, folder: Path, redact: Redact) -> JsonValue:
        in_file = "answer_file" in self.names
        source = "the answer file" if in_file else "stdout"
        text = _read(folder / "answer", output, redact) if in_file else _text(output.stdout)
        if self.spec.answer is None:
            return text.rstrip("\r\n")
        try:
            return answer_in(text, self.spec.answer, source, redact)
        except NoAnswerError as error:
            raise ProgramError(f"{error}{_last_words(output, redact)}") from None


def _container(spec: AgentSpec) -> Container | None:
    """Return the program's container, ready for use; without a container, check that the program exists here."""
    given = spec.options.get(CONTAINER)
    _check_program(spec, is_here=given is None)
    if given is None:
        return None
    options_of(given)
    for key in (SERVED, SHARED):
        if spec.options.get(key):
            raise UsageError(f"agent.options: `{key}` cannot be used together with `{CONTAINER}`")
    return prepared(given, Path(spec.root))


def _paths_inside(words: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the placeholders for paths, as a container sees the paths."""
    files = {name: f"{SCRATCH}/{Path(words[name]).name}" for name in _files(folder, "")}
    return {**files, "project": PROJECT, "workspace": WORK}


def _check_program(spec: AgentSpec, *, is_here: bool) -> None:
    if spec.shell:
        if len(spec.command) > 1:
            raise UsageError("agent.command: with `shell: true` it is one line, not a list of arguments")
        shell_line(spec.command[0], WHERE)
        return
    program = spec.command[0]
    if names_in(program, WHERE):
        raise UsageError(f"{WHERE}: the program itself, {program!r}, cannot be a placeholder")
    if not is_here:
        return
    program = filled(program, str, WHERE)
    beside = Path(spec.root, program)
    found = os.access(beside, os.X_OK) and beside.is_file() if "/" in program else shutil.which(program)
    if not found:
        remedy = (
            "make it executable (chmod +x)"
            if "/" in program and beside.is_file()
            else "install it, or give its path"
        )
        raise UsageError(f"{WHERE}: there is no program {program!r} that can be run here; {remedy}")


def _files(folder: Path, asked: JsonValue) -> dict[str, str]:
    ending = "txt" if isinstance(asked, str) else "json"
    return {
        "input_file": str(folder / f"input.{ending}"),
        "answer_file": str(folder / "answer"),
        CONFIG_FILE: str(folder / "config.json"),
    }


async def _run(launch: Launch, output: Output) -> None:
    try:
        await run_program(launch, output)
    except OSError as error:
        if error.errno in _MACHINE:
            raise UnavailableError(f"no program can be started now: {error.strerror}") from error
        remedy = ""
        if error.errno == errno.E2BIG:
            remedy = ". An argument is too long; use {input_file}, {config_file} or stdin"
        raise AdapterError(
            f"{WHERE}: cannot start {launch.arguments[0]!r}: {error.strerror}{remedy}"
        ) from error


def _check_argument(word: str, name: str) -> None:
    """Raise `AdapterError` for an argument that the system cannot pass to any program."""
    if "\0" in word:
        raise AdapterError(
            f"{{{name}}} holds a NUL character, which no argument can; use {{input_file}} or stdin"
        )
    _encoded(word, f"{{{name}}}")


def _encoded(text: str, text_named: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise AdapterError(
            f"{text_named} holds {text[error.start]!a}, half a character, which UTF-8 cannot"
        ) from None


def _write(path: Path, text: str, text_named: str) -> None:
    path.write_bytes(_encoded(text, text_named))


def _read(path: Path, output: Output, redact: Redact) -> str:
    try:
        with path.open("rb") as file:
            held = file.read(LIMIT + 1)
    except OSError as error:
        raise ProgramError(
            f"the program left no answer file: {error.strerror}{_last_words(output, redact)}"
        ) from None
    if len(held) > LIMIT:
        raise ProgramError(f"the program wrote more than {LIMIT // 2**20} MB to the answer file")
    return held.decode("utf-8", "replace")


def _text(held: bytearray) -> str:
    return held.decode("utf-8", "replace")


def _ended(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"was ended by {names.get(-code, f'signal {-code}')}"


def _last_words(output: Output, redact: Redact) -> str:
    said = _end(output, TOLD_OF_STDERR, redact).strip()
    return f". Its last words on stderr: {said}" if said else ""


def _end(output: Output, size: int, redact: Redact) -> str:
    """Return the end of stderr; what may be half of a secret, where a long text was cut first, is far from it."""
    text = _text(output.stderr)
    clean = redact(text[-LOOKED_AT:])
    return (clean if len(clean) > 2 * size else redact(text))[-size:]
