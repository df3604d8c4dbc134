"""The agent at a git revision. This module reads the repository and changes nothing in it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import AgentmutError, UsageError, scratch_folder
from agentmut.campaign.preparation.session import declared_variables, open_session
from agentmut.mutation import Changes, changes
from agentmut.nouns import AgentConfig
from agentmut.project import load_project, read_config_file, split_part

SECONDS = 300
"""How long the old agent may take to be imported."""
_CHILD = (
    "import json, sys; request = json.loads(sys.argv[1]); sys.path.insert(0, request['home']); "
    "from agentmut.campaign.selection.revision import answer; sys.path[:] = request['path']; answer(request)"
)


class AgentFiles(NamedTuple):
    """The files that describe the agent."""

    file: Path
    bare: bool = False
    """Whether it holds the config only, not a project; then `FILE#AGENT` is one of several agents in a file."""
    agent: str | None = None
    scenarios: tuple[str, ...] = ()


def changes_since(reference: str, described: AgentFiles, today: AgentConfig) -> Changes:
    """Return the parts of today's agent that differ from the agent at a git revision; all parts without an old agent.

    The old files are written to a temporary folder and loaded in a process of their own, so that no module of
    today's is used in place of an old one. `main...` is where the branch left `main`. Raises `UsageError`: no git,
    no repository, no such revision, or an old agent that cannot be loaded.
    """
    file, part = split_part(described.file.resolve()) if described.bare else (described.file.resolve(), "")
    top = _top(file.parent)
    commit = _commit(reference, top)
    name = file.relative_to(top).as_posix()
    if not _existed(f"{commit}:{name}", top):
        note = f"{name} did not exist at {reference}, so everything counts as changed"
        return changes(None, today, reference, note)
    with scratch_folder() as folder:
        tree = folder.resolve() / "tree"
        _check_out(commit, top, tree)
        old_file = tree / (f"{name}#{part}" if part else name)
        old, missing = _load(reference, described._replace(file=old_file), top, tree)
    return changes(old, today, reference, _missing_note(missing, reference))


def _missing_note(missing: Sequence[str], reference: str) -> str:
    if not missing:
        return ""
    they_count = "it counts" if len(missing) == 1 else "they count"
    return f"{', '.join(missing)} did not exist at {reference}, so {they_count} as changed"


def answer(request: Mapping[str, object]) -> None:
    """Load the agent in a separate process and write its config, or the problem with it."""
    described = AgentFiles(
        Path(str(request["file"])),
        bool(request["bare"]),
        str(request["agent"]) if request["agent"] else None,
        tuple(json.loads(str(request["scenarios"]))),
    )
    try:
        missing = list(_stand_ins(described))
        document: dict[str, object] = {
            "config": _config(described).model_dump(mode="json"),
            "missing": missing,
        }
    except AgentmutError as error:
        document = {"error": {"message": str(error)}}
    Path(str(request["out"])).write_text(json.dumps(document))


def _config(described: AgentFiles) -> AgentConfig:
    if described.bare:
        return read_config_file(described.file).config
    project = load_project(described.file, described.agent)
    wanted = {scenario.name for scenario in project.scenarios}
    os.environ.update(declared_variables(project))  # the process does nothing else
    # A scenario of today need not have existed then.
    return open_session(project, [s for s in described.scenarios if s in wanted]).suite.full


def _stand_ins(described: AgentFiles) -> Iterator[str]:
    """Write empty files where the old agent's prompt or documents are missing, as when they were not committed.

    The folder is a temporary copy. What else is wrong with the project file is told when it is loaded.
    """
    from agentmut._base import read_yaml
    from agentmut.project import is_foreign, is_missing_text

    if described.bare and is_foreign(split_part(described.file)[0]):
        return
    written: Any = read_yaml(described.file, described.file.name).value
    for key in () if described.bare else ("agent", "config"):
        written = written.get(key) if isinstance(written, dict) else None
    if not isinstance(written, dict):
        return
    context, root = written.get("context"), described.file.parent
    documents = [path for path in context if isinstance(path, str)] if isinstance(context, list) else []
    prompt = [
        path for path in [written.get("prompt")] if isinstance(path, str) and is_missing_text(path, root)
    ]
    for path in dict.fromkeys([*prompt, *documents]):
        file = (root / path).resolve()
        if file.is_relative_to(root.resolve()) and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
            yield path


def _top(folder: Path) -> Path:
    try:
        return Path(_git("-C", str(folder), "rev-parse", "--show-toplevel").strip()).resolve()
    except FileNotFoundError:
        raise UsageError("--in-diff needs git, which is not installed (or not on PATH).") from None
    except subprocess.CalledProcessError as error:
        problem = error.stderr.strip().removeprefix("fatal: ")
        raise UsageError(f"--in-diff: {folder} is in no git working tree ({problem}).") from None


def _commit(reference: str, top: Path) -> str:
    first, dots, other = reference.partition("...")
    if dots:
        return _merge_base(reference, _commit(first or "HEAD", top), _commit(other or "HEAD", top), top)
    wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    try:
        return _git("-C", str(top), *wanted).strip()
    except subprocess.CalledProcessError:
        raise UsageError(
            f"--in-diff {reference}: {top} has no such revision. Name a commit, branch or tag, or with three dots "
            "(`main...`) the commit at which this branch left it; a shallow clone, as CI systems make them, has to "
            "fetch it first."
        ) from None


def _merge_base(reference: str, commit: str, other_commit: str, top: Path) -> str:
    try:
        return _git("-C", str(top), "merge-base", commit, other_commit).strip()
    except subprocess.CalledProcessError:
        raise UsageError(
            f"--in-diff {reference}: the two have no common ancestor here. A shallow clone, as CI systems make them, "
            "has to fetch more of the history (`git fetch --unshallow`)."
        ) from None


def _existed(thing: str, top: Path) -> bool:
    try:
        _git("-C", str(top), "cat-file", "-e", thing)
    except subprocess.CalledProcessError:
        return False
    return True


def _check_out(commit: str, top: Path, tree: Path) -> None:
    """Write a commit's files to a new folder through a separate index; the user's index does not change."""
    tree.mkdir()
    index = {"GIT_INDEX_FILE": str(tree.with_name("index"))}
    try:
        _git("-C", str(top), "read-tree", commit, **index)
        _git("-C", str(top), "checkout-index", "--all", "--quiet", f"--prefix={tree}/", **index)
    except subprocess.CalledProcessError as error:
        raise UsageError(
            f"--in-diff: git cannot write the files of {commit[:12]}: {error.stderr.strip()}"
        ) from None


def _git(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        ["git", *arguments], capture_output=True, check=True, text=True, env={**os.environ, **environment}
    )
    return done.stdout


def _load(
    reference: str, described: AgentFiles, top: Path, tree: Path
) -> tuple[AgentConfig, tuple[str, ...]]:
    """Return the old agent's config, and the files that did not exist at that time."""
    out = tree.with_name("config.json")
    home = str(Path(__file__).resolve().parents[3])  # where the package is
    request = {
        "home": home,
        "path": [*_moved(sys.path, top, tree), home],
        "file": str(described.file),
        "bare": described.bare,
        "agent": described.agent,
        "scenarios": json.dumps(described.scenarios),
        "out": str(out),
    }
    problem = _run(request, described.file.parent)
    document = json.loads(out.read_text()) if out.exists() else {"error": {"message": problem}}
    if "error" in document:
        shown = (
            str(document["error"]["message"])
            .replace(f"{tree}/", f"{reference}:")
            .replace(str(tree), reference)
        )
        raise UsageError(f"--in-diff {reference}: the earlier agent cannot be loaded: {shown}")
    return AgentConfig.model_validate(document["config"]), tuple(document["missing"])


def _run(request: Mapping[str, object], folder: Path) -> str:
    """Run the process and return the end of its stderr, which explains a missing answer."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, json.dumps(request)],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            check=False, capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it was not ready after {SECONDS} seconds"
    return (done.stderr.strip().splitlines() or [f"its process ended with code {done.returncode}"])[-1]


def _moved(path: Sequence[str], top: Path, tree: Path) -> list[str]:
    """Return `sys.path` with the folders of the working tree replaced by the old ones.

    Folders that the revision does not have, such as a virtual environment, stay.
    """
    moved = []
    for entry in path:
        here = Path(entry).resolve()
        old = tree / here.relative_to(top) if here.is_relative_to(top) else here
        moved.append(str(old if old.exists() else here))
    return moved
