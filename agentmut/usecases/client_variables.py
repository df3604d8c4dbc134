"""Variables in a client's list of tool servers: the folder, the environment, and what the client asks its user for."""

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

_FOLDER = re.compile(r"\$\{(?:workspaceFolder|workspaceRoot)(?::[^}]*)?\}")
_REFERENCE = re.compile(r"\$\{(?:(?:env|input):)?(?P<name>[\w.-]+)(?::-?[^}]*)?\}")
_CLIENT_FOLDERS = frozenset([".vscode", ".cursor", ".idea", ".zed", ".windsurf"])


def workspace(list_file: Path, target: Path) -> str:
    """Return the folder that a client calls its workspace, as a project in `target` writes it."""
    folder = list_file.resolve().parent
    folder = folder.parent if folder.name in _CLIENT_FOLDERS else folder
    return os.path.relpath(folder, target.resolve()).replace(os.sep, "/")


def with_folder(text: str, folder: str) -> str:
    """Return a text with the workspace's folder in the place of its variable.

    >>> with_folder("${workspaceFolder}/src", "..")
    '../src'
    """
    return _FOLDER.sub(folder.replace("\\", r"\\"), text)


def command_of(words: Sequence[str], folder: str) -> tuple[list[str], dict[str, str]]:
    """Return a command whose variables a shell fills in, and the variables; without one, the command as it is.

    >>> command_of(["uvx", "pg", "${input:key}", "${workspaceFolder}"], "..")
    (['sh', '-c', 'exec uvx pg "$KEY" ..'], {'KEY': '${KEY}'})
    """
    words = [with_folder(word, folder) for word in words]
    names = {_variable(found["name"]) for word in words for found in _REFERENCE.finditer(word)}
    if not names:
        return words, {}
    line = " ".join(_quoted(word) for word in words)
    return ["sh", "-c", f"exec {line}"], {name: f"${{{name}}}" for name in sorted(names)}


def _variable(name: str) -> str:
    """Return the name of an environment variable: what a client asks for is called in small letters."""
    return re.sub(r"\W+", "_", name).upper()


def _quoted(word: str) -> str:
    if not _REFERENCE.search(word):
        return shlex.quote(word)
    parts = _REFERENCE.split(word)
    names = [_variable(name) for name in parts[1::2]]
    fixed = [re.sub(r'([\\"`$])', r"\\\1", part) for part in parts[::2]]
    joined = "".join(
        text + (f"${{{name}}}" if name else "") for text, name in zip(fixed, [*names, ""], strict=True)
    )
    plain = re.fullmatch(r"\$\{(\w+)\}", joined)
    return f'"${plain[1]}"' if plain else f'"{joined}"'
