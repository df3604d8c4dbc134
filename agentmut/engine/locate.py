"""Where a mutant changes the agent, in the user's own files, and what it changes there."""

from agentmut.config import AgentConfig
from agentmut.frozen import canonical_json
from agentmut.mutant import Edit, Mutant
from agentmut.project import Project
from agentmut.result import Target
from agentmut.text.position import position


def target_of(mutant: Mutant, config: AgentConfig, project: Project) -> Target:
    """File, line and column of a mutant's first edit; line and column only where the value has a file."""
    if not mutant.edits:
        return Target(path=None)
    edit = mutant.edits[0]
    part, *rest = edit.path
    here = project.path.name
    if part == "prompt":
        return _in_text(project.sources.prompt, config.prompt, edit) or Target(path=here)
    if part == "context" and rest and rest[0].isdigit() and int(rest[0]) < len(config.context):
        document = config.context[int(rest[0])]
        return _in_text(document.name, document.text, edit) or Target(path=document.name)
    if part == "tools" and project.sources.tools:
        return Target(path=project.sources.tools)
    return Target(path=here)


def changed_text(mutant: Mutant) -> tuple[str, str]:
    """What stood there and what stands there now, for reading; several edits are joined by line breaks."""
    before = "\n".join(_readable(edit.before) for edit in mutant.edits if edit.before is not None)
    after = "\n".join(_readable(edit.after) for edit in mutant.edits if edit.after is not None)
    return before, after


def _in_text(path: str | None, text: str, edit: Edit) -> Target | None:
    if path is None or edit.span is None:
        return None
    line, column = position(text, edit.span[0])
    return Target(path=path, line=line, column=column)


def _readable(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "name" in value:
        return str(value["name"]) if "text" not in value else str(value["text"])
    if isinstance(value, list):
        return ", ".join(_readable(item) if not _is_document(item) else str(item["name"]) for item in value)
    return canonical_json(value)


def _is_document(value: object) -> bool:
    return isinstance(value, dict) and "text" in value
