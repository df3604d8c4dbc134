"""`agentmut init`: a small project that runs at once, for the user to change."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from agentmut._base import Edit, StoreError, UsageError, edit_together, nearest, refuse_read_only, unwritten
from agentmut.project import FOLDER, schema_line, write_schemas
from agentmut.seams import Group, names

WITHOUT_MODEL = frozenset({"python", "mcp"})
"""Starters that ask no model, so that they need no simulator."""
MODEL_OF_STARTER: Mapping[str, str] = MappingProxyType(
    {"anthropic": "claude-sonnet-4-6", "openai": "gpt-5.2"}
)
"""Models of the starters whose code names a model of the real service; the simulator needs an alias for these."""
_ALSO: Mapping[str, str] = MappingProxyType(
    {
        "adk": "googleadk",
        "agentengine": "vertexagentengine",
        "agentsdk": "openaiagents",
        "amazonbedrock": "bedrock",
        "amazonbedrockagents": "bedrockagents",
        "anthropicsdk": "anthropic",
        "claude": "anthropic",
        "autogenagentchat": "autogen",
        "boto3": "bedrock",
        "bedrockconverse": "bedrock",
        "callable": "python",
        "langchain": "langgraph",
        "llamaindexcore": "llamaindex",
        "mcpserver": "mcp",
        "mcpservers": "mcp",
        "modelcontextprotocol": "mcp",
        "openaiagentssdk": "openaiagents",
        "openaipython": "openai",
        "openaisdk": "openai",
        "pydanticaislim": "pydanticai",
        "sk": "semantickernel",
        "vertexaiagentengine": "vertexagentengine",
        "vertexaiagentengines": "vertexagentengine",
    }
)
"""Other names of frameworks, by their letters alone: packages, and what their users call them."""
_VERTEX = frozenset({"vertex", "vertexai", "googlevertexai"})
SETTINGS = """\
suite:
  scenarios: scenarios/*.yaml
  threshold: 0.9                        # the pass rate asked of each scenario

mutation:
  sample: 60                            # at most so many mutants in all, a fair sample; leave it out for all

statistics:
  seed: 1

budget:                                 # whichever is met first stops the run
  trials: 4000
  minutes: 30
"""
"""The end of a project file that is made from a file of another tool: suite, mutation, statistics and budget."""
SCENARIOS_HEAD = (
    "# A scenario: what the user says, and what must hold of the run. All evaluators must pass.\n"
)
DISGUISE = ".txt"
"""Python templates carry this suffix, so that no tool takes them for modules of agentmut."""


def frameworks() -> tuple[str, ...]:
    """Return the frameworks with a starter, sorted."""
    return tuple(sorted(folder.name for folder in _templates().iterdir() if folder.is_dir()))


def starter_texts() -> frozenset[str]:
    """Return the texts of all starters' files."""
    return frozenset(text for name in frameworks() for _, text in _starter_files(_templates() / name))


def starter_name(framework: str) -> str:
    """Return the name of a starter, also from the name of an extra, a package or a framework.

    >>> starter_name("openai-agents"), starter_name("CrewAI"), starter_name("adk")
    ('openai_agents', 'crewai', 'google_adk')
    """
    said = _letters(framework)
    by_letters = {_letters(name): name for name in frameworks()}
    name = by_letters.get(_ALSO.get(said, said))
    if name:
        return name
    if said in _VERTEX:
        raise UsageError(
            f"there is no starter for {framework!r}: take google_adk for an agent that runs in this process, or "
            "vertex_agent_engine for one that is deployed there."
        )
    if (adapter := framework.strip().lower()) in names(Group.ADAPTERS):
        raise UsageError(
            f"there is no starter for {framework!r}, but an adapter: begin with `agentmut init` and write `adapter: "
            f"{adapter}` into agentmut.yaml, as the adapter's page says. Starters: {', '.join(frameworks())}."
        )
    known = ", ".join(frameworks())
    likely = nearest(framework.lower(), frameworks())
    raise UsageError(
        f"there is no starter for {framework!r}. {likely}{'' if known in likely else f' Known: {known}.'}"
    )


def write_starter(target: Path, force: bool = False, framework: str = "python") -> tuple[Path, ...]:
    """Write a commented project file, a prompt, two scenarios and an agent stub; the files written.

    Files that exist are never overwritten unless `force`: `UsageError` names them, and then nothing is
    written at all. YAML files name their schemas to editors; those are written into `.agentmut`. A `.gitignore` with
    the folder of results comes along where there is none: an existing one stays as it is.
    """
    found = _starter_files(_templates() / starter_name(framework))
    return write_project(target, dict(found), force)


def write_project(target: Path, files: Mapping[str, str], force: bool = False) -> tuple[Path, ...]:
    """Write the files of a new project, all or none even if killed; return the written files.

    Raises `UsageError` as `write_starter` does.
    """
    texts = {target / name: f"{schema_line(name)}{text}" for name, text in files.items()}
    if not (target / ".gitignore").exists():
        texts[target / ".gitignore"] = f"{FOLDER}/\n"
    existing = [str(path.relative_to(target)) for path in texts if path.exists()]
    if existing and not force:
        raise UsageError(
            f"{target} already has {', '.join(existing)}; nothing was written. "
            "Use --force to overwrite, or another directory. To measure an agent that stands there, write an "
            "agentmut.yaml that names it: docs/your-agent.md."
        )
    _write_together(target, texts)
    with suppress(OSError):  # editors do without; the next command writes them again
        write_schemas(target)
    return tuple(texts)


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _templates() -> Traversable:
    return files("agentmut.usecases") / "templates" / "init"


def _starter_files(folder: Traversable, inside: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{inside}{entry.name}"
        if entry.is_dir():
            yield from _starter_files(entry, f"{name}/")
        else:
            yield name.removesuffix(DISGUISE), entry.read_text(encoding="utf-8")


def _write_together(target: Path, texts: Mapping[Path, str]) -> None:
    try:
        edits = []
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            refuse_read_only(path)
            edits.append(Edit(path, path.read_bytes() if path.exists() else None, text.encode()))
        edit_together(target, edits)
    except OSError as error:
        said = f"cannot write {error.filename or target}"
        raise unwritten(said, error, "Choose a directory you may write to.") from error
    except StoreError as error:
        raise UsageError(f"nothing was written: {error}") from error
