"""Files that `agentmut init` wrote for its stub, in a project whose agent is no longer that stub."""

from pathlib import Path, PurePosixPath

from agentmut.project import Project, schema_line
from agentmut.usecases.starting import starter_texts

_REMEDY = {
    "scenarios": "write scenarios for your agent in its place",
    "prompts": "name your agent's prompt instead",
}


def starter_leftovers(project: Project) -> str:
    """Return which files of the stub the project still uses for another agent, in a sentence; empty if none."""
    named = (place.rpartition(":")[0] for place in project.sources.scenarios.values())
    used = [name for name in (*dict.fromkeys(named), project.sources.prompt) if name]
    texts = starter_texts()
    left = [name for name in used if _text(project.root / name, name) in texts]
    if not left or _is_stub(project, texts):
        return ""
    remedies = dict.fromkeys(_REMEDY.get(PurePosixPath(name).parts[0], "replace it") for name in left)
    return (
        f"{' and '.join(left)} {'is' if len(left) == 1 else 'are'} as `agentmut init` wrote for its stub, and the "
        f"agent is no longer that stub: {', and '.join(remedies)}"
    )


def _is_stub(project: Project, texts: frozenset[str]) -> bool:
    """Return whether nobody has changed the stub: its module, or the project file of one without."""
    spec = project.agent
    module = (spec.factory or spec.run or spec.functions or "").partition(":")[0]
    name = f"{module.replace('.', '/')}.py" if module else project.path.name
    return _text(project.root / name, name) in texts


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text("utf-8").removeprefix(schema_line(name))
    except (OSError, UnicodeDecodeError):
        return ""
