"""promptfoo's config: its prompts, and the model and tools of its first provider."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from agentmut._base import KeyPath, ProjectError, YamlSource, read_text, read_yaml
from agentmut.nouns import ModelConfig, ToolSpec
from agentmut.project.formats.settings import model_of
from agentmut.project.formats.tool_lists import FILE, tools_in
from agentmut.project.formats.yaml_texts import written_at
from agentmut.seams import ConfigFile, FoundAgent, WrittenText

_CODE = (".py", ".js", ".ts", ".mjs", ".cjs")
_NO_MODEL = ("file:", "python:", "exec:", "http", "webhook:", "ws", "package:", "golang:", "ruby:")
_BETWEEN = "\n---\n"
"""The line between two prompts of one text file."""


class Promptfoo:
    """Each prompt of the config: its system message, or its whole text where it has no messages."""

    name: ClassVar[str] = "promptfoo"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file has prompts and providers (or targets)."""
        values = file.values
        return "prompts" in values and bool({"providers", "targets", "tests"} & values.keys())

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return one agent for each prompt. Raises `ProjectError` where all prompts are code."""
        model, tools = _provider(file)
        found = [
            prompt for key, one in _entries(file.values["prompts"]) for prompt in _prompts(file, key, one)
        ]
        if not found:
            raise ProjectError(
                f"{file.label}: its prompts are code, or messages without text. Pass a recorded model request with "
                "--request instead."
            )
        names = _distinct([one.name for one in found])
        return tuple(
            FoundAgent(name=name, prompt=one.parts, tools=tools, model=model, left_out=tuple(_others(file)))
            for name, one in zip(names, found, strict=True)
        )


class _Prompt(NamedTuple):
    name: str
    parts: tuple[WrittenText, ...]


def _entries(prompts: Any) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(prompts, str):
        yield ("prompts",), prompts
    elif isinstance(prompts, list):
        yield from ((("prompts", index), one) for index, one in enumerate(prompts))
    elif isinstance(prompts, dict):  # files with their labels
        yield from ((("prompts", path), {"raw": path, "label": name}) for path, name in prompts.items())


def _prompts(file: ConfigFile, key: KeyPath, entry: Any) -> Iterator[_Prompt]:
    """Yield the prompts of an entry: one, or several where a text file holds several."""
    at = entry if isinstance(entry, dict) else {}
    inner = next((name for name in ("raw", "id") if name in at), None)
    value = at.get(inner) if inner else entry
    if not isinstance(value, str):
        return
    key = (*key, inner) if inner else key
    path = _path(value, file.path.parent)
    label = str(at.get("label") or "")
    if path is None:
        yield _Prompt(label or f"prompt_{_number(key)}", _inline(file.source, key, value))
    elif path.suffix.lower() not in _CODE:
        name = path.relative_to(file.path.parent.resolve()).as_posix()
        yield from (_Prompt(label or path.stem, parts) for parts in _of_file(path, name))


def _number(key: KeyPath) -> int:
    return next((part + 1 for part in key if isinstance(part, int)), 1)


def _path(value: str, folder: Path) -> Path | None:
    """Return the file that an entry names; None where the entry is the prompt itself."""
    if "\n" in value or len(value) > 1024:
        return None
    named = value.removeprefix(FILE)
    path = (folder / named).resolve()
    if not value.startswith(FILE) and not path.is_file():
        return None
    if path.suffix.lower() not in _CODE and not path.is_file():
        raise ProjectError(f"there is no file {named!r} in {folder}. Correct the entry of `prompts`.")
    if not path.is_relative_to(folder.resolve()):
        raise ProjectError(f"the prompt {named!r} is outside {folder}. Copy it there.")
    return path


def _inline(source: YamlSource, key: KeyPath, text: str) -> tuple[WrittenText, ...]:
    system = _system_text(_messages(text))
    return (
        written_at(source, key)
        if system is None
        else (WrittenText(text=system, line=source.line(key), by_line=False),)
    )


def _of_file(path: Path, name: str) -> Iterator[tuple[WrittenText, ...]]:
    text = read_text(path, name)
    if path.suffix.lower() in (".yaml", ".yml"):
        yield from _of_messages(read_yaml(path, name), name)
    elif (system := _system_text(_messages(text))) is not None:
        yield (WrittenText(text=system, line=1, by_line=False, file=name),)
    else:
        line = 1
        for part in text.split(_BETWEEN):
            begins = line + len(part) - len(part.lstrip("\n"))
            if part.strip():
                yield (WrittenText(text=part.strip("\n"), line=begins, indent=0, file=name),)
            line += part.count("\n") + 2


def _of_messages(source: YamlSource, name: str) -> Iterator[tuple[WrittenText, ...]]:
    messages = source.value if isinstance(source.value, list) else []
    for index, message in enumerate(messages):
        if isinstance(message, dict) and message.get("role") in ("system", "developer"):
            written = written_at(source, (index, "content"))
            yield tuple(one.model_copy(update={"file": name}) for one in written)
            return


def _messages(text: str) -> Sequence[Any]:
    if not text.lstrip().startswith("["):
        return ()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return found if isinstance(found, list) else ()


def _system_text(messages: Sequence[Any]) -> str | None:
    for message in messages:
        if isinstance(message, dict) and message.get("role") in ("system", "developer"):
            return message["content"] if isinstance(message.get("content"), str) else None
    return None


def _others(file: ConfigFile) -> Iterator[str]:
    """Yield the providers after the first one."""
    listed = file.values.get("providers") or file.values.get("targets")
    for one in listed[1:] if isinstance(listed, list) else ():
        yield f"the provider {_named(one)[0]} (the first provider counts)"


def _provider(file: ConfigFile) -> tuple[ModelConfig, tuple[ToolSpec, ...]]:
    """Return the model and the tools of the first provider."""
    listed = file.values.get("providers") or file.values.get("targets") or []
    first = listed[0] if isinstance(listed, list) and listed else listed
    name, config = _named(first)
    model = None if name.startswith(_NO_MODEL) else name.rpartition(":")[2]
    tools = tools_in(config.get("tools"), file.path.parent, f"{file.label}: the tools of {name}")
    return model_of(model, config, f"{file.label}: {name}"), tools


def _named(provider: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(provider, str):
        return provider, {}
    if not isinstance(provider, dict):
        return "", {}
    if "id" not in provider and len(provider) == 1:  # `- openai:gpt-5.2: {config: ...}`
        ((name, rest),) = provider.items()
        provider = {"id": name, **(rest if isinstance(rest, dict) else {})}
    config = provider.get("config")
    return str(provider.get("id") or ""), config if isinstance(config, dict) else {}


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, those that come again with their number."""
    seen: list[str] = []
    for name in names:
        times = sum(one == name or one.startswith(f"{name}_") for one in seen)
        seen.append(f"{name}_{times + 1}" if name in seen else name)
    return seen
