"""The files that make up an agent that is a program or a service: a change of one makes stored trials stale."""

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from agentmut.seams import AgentSpec

_ENDINGS = """
    .js .mjs .cjs .jsx .ts .mts .cts .tsx .go .rs .java .kt .kts .scala .groovy .clj .cljs .cs .fs .vb .rb .php .pl
    .lua .sh .bash .zsh .ps1 .r .jl .swift .m .c .h .cc .cpp .hpp .cxx .zig .nim .d .dart .ex .exs .erl .elm .hs .ml
    .rkt .scm .lisp
"""
SOURCES = frozenset(_ENDINGS.split())
"""Endings of source files, besides Python's."""
_NAMES = """
    package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.json deno.lock
    tsconfig.json go.mod go.sum Cargo.toml Cargo.lock pom.xml build.gradle build.gradle.kts Gemfile Gemfile.lock
    composer.json composer.lock requirements.txt pyproject.toml Makefile
"""
MANIFESTS = frozenset(_NAMES.split())
"""Files that say which libraries a program has."""


def program_files(spec: AgentSpec, root: Path, files: Iterable[Path]) -> Iterator[Path]:
    """Yield the project's files that belong to its program or service; no files for other agents.

    Besides, all files of the folders that a coding agent works on and an image is built from, and the files that the
    command names, whatever they are, wherever in the project's folder: a script without an ending, a compiled program.
    """
    if not (spec.command or spec.url):
        return
    container = spec.options.get("container")
    built = container.get("build") if isinstance(container, dict) else None
    whole = [
        root / place for place in (spec.options.get("workspace"), built) if place and isinstance(place, str)
    ]
    for path in files:
        if (
            path.suffix.lower() in SOURCES
            or path.name in MANIFESTS
            or any(path.is_relative_to(folder) for folder in whole)
        ):
            yield path
    for word in _words(spec):
        path = Path(os.path.normpath(root / word))
        if path.is_relative_to(root) and path.is_file():
            yield path


def _words(spec: AgentSpec) -> list[str]:
    if not spec.shell:
        return [word for word in spec.command if "\0" not in word]
    try:
        return shlex.split(spec.command[0])
    except ValueError:  # an open quote, on which the shell will have its say
        return spec.command[0].split()
