"""What the unchanged agent sends to its model, compared with what the project says of it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from agentmut._base import canonical_json, flat, inlined, passage_at, shown
from agentmut.nouns import (
    SAMPLING,
    AgentConfig,
    Flow,
    Footprint,
    ModelConfig,
    RequestShape,
    ToolSpec,
    is_set,
)
from agentmut.project import Project, refreshing, saved_request
from agentmut.store import Sent

_PLACEHOLDER = re.compile(r"\{\w+\}")


def kinds_of(seen: Footprint) -> tuple[Sent, ...]:
    """Return the requests of a trial, grouped by agent."""
    counted = Counter(_kind(seen.requests[number]) for number in seen.exchanges)
    return tuple(kind.model_copy(update={"number": number}) for kind, number in counted.items())


def _kind(shape: RequestShape) -> Sent:
    return Sent(
        number=0,
        dialect=shape.dialect,
        host=shape.host,
        model=shape.model,
        prompt_length=shape.system,
        tools=tuple(tool.name for tool in shape.tools),
        streamed=shape.stream,
    )


def differences(config: AgentConfig, shapes: Sequence[RequestShape]) -> tuple[str, ...]:
    """Return where the requests are not what the config says; what is not in the config is not mutated."""
    if not shapes:
        return ()
    return (*_of_texts(config, shapes), *_of_tools(config, shapes), *_of_model(config.model, shapes))


def unlike_saved(project: Project, shapes: Sequence[RequestShape]) -> str:
    """Return in what the requests differ from the project's saved request, and what to do; empty if they do not."""
    request = saved_request(project)
    if request is None or not shapes:
        return ""
    found = (*differences(project.config, shapes), *_added_lines(project.config, shapes))
    if not found:
        return ""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return (
        f"the agent does not send what {request.name} says ({found[0]}{more}): `{refreshing(project)}` saves what it "
        "sends now"
    )


def _added_lines(config: AgentConfig, shapes: Sequence[RequestShape]) -> Iterator[str]:
    """Yield the lines that the prompt of a saved request lacks; a prompt with placeholders may have any lines there."""
    if not config.prompt or _PLACEHOLDER.search(config.prompt):
        return
    main = max(shapes, key=lambda shape: _in_common(config.prompt, shape))
    lines = [line.strip() for line in main.instructions.splitlines() if line.strip()]
    if added := [line for line in lines if line not in config.prompt]:
        number = f"{len(added)} line{'s' if len(added) > 1 else ''}"
        yield f'{number} of the system prompt not in it; the first: "{added[0][:60]}"'


def _in_common(prompt: str, shape: RequestShape) -> int:
    return sum(line.strip() in prompt for line in shape.instructions.splitlines() if line.strip())


def _of_texts(config: AgentConfig, shapes: Sequence[RequestShape]) -> Iterator[str]:
    texts = {"prompt": config.prompt, **{f"document {d.name}": d.text for d in config.context}}
    for name, text in texts.items():
        lines = [line for line in text.splitlines() if line.strip() and not _is_heading(line)]
        lost = [line for line in lines if not any(_shows_line(line, shape) for shape in shapes)]
        if lost and len(lost) == len(lines):
            yield f"the declared {name} is in no request"
        elif lost:
            first = f'the first: "{lost[0].strip()[:60]}"'
            yield f"{len(lost)} of {len(lines)} lines of the declared {name} are in no request; {first}"
    main = max(shapes, key=lambda shape: shape.system)
    longest, declared = main.system, len(config.system_text())
    if config.workspace and not config.prompt:
        files = sum(len(document.text) for document in config.context if _has_line_of(document.text, main))
        if longest > 1.2 * files + 40:
            yield (
                f"the longest system prompt has {longest} characters, the files of the workspace in it have {files}: "
                "what is not declared is not mutated"
            )
    elif not config.prompt and longest:
        yield f"no prompt is declared, but requests have a system prompt of {longest} characters: it is not mutated"
    elif longest > 1.2 * declared + 40:
        yield (
            f"the longest system prompt has {longest} characters, declared are {declared}: what is not declared is "
            "not mutated"
        )


def _has_line_of(text: str, shape: RequestShape) -> bool:
    return any(
        _shows_line(line, shape) for line in text.splitlines() if line.strip() and not _is_heading(line)
    )


def _is_heading(line: str) -> bool:
    """Return whether a text is a heading of the adapter, for frameworks that keep a prompt in several texts."""
    return line.lstrip().startswith("#")


def _shows_line(line: str, shape: RequestShape) -> bool:
    return shown(passage_at(line, 0, len(line)), shape.text)


def _of_tools(config: AgentConfig, shapes: Sequence[RequestShape]) -> Iterator[str]:
    offered = {tool.name: tool for shape in shapes for tool in shape.tools}
    declared = {tool.name: tool for tool in config.tools}
    if lacking := [name for name in declared if name not in offered]:
        yield f"no request offers the declared {_tools(lacking)}"
    known = {
        *declared,
        *(
            name
            for calls in Flow.from_orchestration(config.orchestration).handoffs.values()
            for name in calls
        ),
    }
    if unknown := [name for name in offered if name not in known]:
        yield f"requests offer the {_tools(unknown)}, not declared and so not mutated"
    if other := [n for n, tool in declared.items() if n in offered and _plain(tool) != _plain(offered[n])]:
        yield f"requests describe the {_tools(other)} otherwise than declared"


def _tools(names: Sequence[str]) -> str:
    return f"tool{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _plain(tool: ToolSpec) -> tuple[str, tuple[str, ...]]:
    """Return what a framework passes on for certain: the description, and the names of the parameters."""
    properties = inlined(tool.parameters).get("properties")
    return flat(tool.description), tuple(sorted(properties if isinstance(properties, dict) else ()))


def _of_model(model: ModelConfig, shapes: Sequence[RequestShape]) -> Iterator[str]:
    names = {shape.model for shape in shapes}
    if model.name and model.name not in names:
        yield f"the declared model is {model.name}, requests name {', '.join(sorted(names))}"
    for name in sorted(SAMPLING):
        declared = getattr(model, name)
        sent = [getattr(shape, name) for shape in shapes]
        if is_set(declared) and declared not in sent:
            values = sorted({canonical_json(value) for value in sent})
            yield f"the declared {name} is {canonical_json(declared)}, requests have {', '.join(values)}"
