"""`agentmut init` beside an agent of the user: a project that names this agent, without a stub."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agentmut.project import FILE_NAME, FOLDER, own_files, places_in
from agentmut.usecases.importing import foreign_store
from agentmut.usecases.models_in_source import model_in
from agentmut.usecases.nearby_agents import LARGEST, STUB, NearbyAgent, nearby_agents
from agentmut.usecases.starting import SCENARIOS_HEAD, SETTINGS, write_project
from agentmut.usecases.starting_from import write_from

REQUEST = "agent.json"
_NO_INPUT = "leave it out for a program that reads the question on stdin"
MOST_NAMED = 5
"""Other agents that a project file lists beside the one that it names."""
_PROJECT = """\
# What agentmut breaks, which tests it measures, and with how much evidence.
{first}#   agentmut mutants                            what would be broken (--diff: how)
#   agentmut run                                break it, and see which breakages the scenarios notice
version: 1

agent:
  adapter: {adapter}
{named}{config}
"""
_RECORDED = """\
# What agentmut looks at: recorded runs. Nothing is run, and no model is asked.
#   agentmut test                        pass rates against the threshold; this comes first
#   agentmut coverage                    what the runs exercise of the agent
#   agentmut relations --stored          relations that judge a run alone
version: 1

suite:
  threshold: 0.9                        # the pass rate asked of each scenario
  traces:
    imported: true                      # the runs that `agentmut import` has stored
    evaluators:                         # what must hold of each run; put your own here
      - regex: \\w
      # - contract: contract.yaml
"""
_OF_PROMPTFOO = """\
# What agentmut breaks, which tests it measures, and with how much evidence.
#   agentmut mutants                            what would be broken (--diff: how)
#   agentmut run                                break it, and see which breakages the tests notice
version: 1

agent:
  config: {}      # prompt, tools and model come from the config of promptfoo; write here what it does not say

"""
_MEASURE = ("agentmut mutants", "agentmut run")
_SAVE = "agentmut doctor --save-request agent.json"
_FIRST = f"#   {_SAVE}   what the agent asks of its model; this comes first\n"
_BY_REQUEST = (
    f"  config: {{request: {REQUEST}}}         # prompt, tools and model; `{_SAVE}` writes this file\n"
)
_BY_READING = "  # prompt, tools and model are read from the agent\n"
_SCENARIO = """\
# Put a question here that users of your agent ask, and say what must hold of the answer.
- name: first
  input: Hello, what can you do for me?
  evaluators:
  - regex: \\w
"""
_CALLS_METHOD = """\
\"\"\"The agent as a function: a new {owner} for each trial, and one call of `{method}` for each turn.\"\"\"

from {module} import {owner}


{define} answer(input):
    bot = {owner}()
    turns = input if isinstance(input, list) else [input]  # a scenario with `turns` gives a list
    for turn in turns:
        said = {wait}bot.{method}(turn)
    return said
"""
_LINE_OF_ANSWER = 6
"""The line of this text on which its function begins."""
_READ_WHOLE = frozenset(
    {
        "openai_agents",
        "pydantic_ai",
        "crewai",
        "autogen",
        "google_adk",
        "llama_index",
        "smolagents",
        "semantic_kernel",
    }
)
"""Adapters that read prompt, tools and model off a live agent."""
_AI_PACKAGES = (
    "openai",
    "@anthropic-ai/sdk",
    "ai",
    "@google/genai",
    "@langchain/core",
    "@mastra/core",
    "ollama",
)
_ENDPOINTS = ("/chat/completions", "/v1/messages", "/responses", ":generateContent", "/api/chat")
"""Ends of the addresses at which a program asks a model."""
_CODE = frozenset({".py", ".sh", ".js", ".mjs", ".ts", ".rb", ".go", ".java", ".rs", ".php", ".cs"})
_SUITES = (
    ("promptfooconfig.yaml", "promptfoo: promptfooconfig.yaml"),
    ("promptfooconfig.yml", "promptfoo: promptfooconfig.yml"),
)


class StartedBeside(NamedTuple):
    """A new project for an agent that was there already."""

    files: tuple[Path, ...]
    found: tuple[str, ...]
    """What was found, and what the project file has of it, in sentences."""
    commands: tuple[str, ...]
    """The commands that come next."""
    asks_model: bool = True
    """Whether the next commands run the agent, which then asks its model."""
    model: str = ""
    """The name of that model, where the agent's source tells it."""


def write_beside(target: Path, force: bool = False) -> StartedBeside | None:
    """Write a project for the agent that stands in a folder; None if there is none. Raises `UsageError`.

    A graph in `langgraph.json` comes first, then agents of Python, a program of Node, a shell script and
    imported runs, in this order.
    No code of the user runs.
    """
    if not target.is_dir():
        return None
    if graph := _one_graph(target):
        begun = write_from(target, graph, force)
        found = "langgraph.json names a graph, and agentmut.yaml names the same graph"
        return StartedBeside(
            begun.files, (_sentence(found), *_suites(target, ())), (_save_in(target), *_MEASURE)
        )
    agents = nearby_agents(target)
    if agents and agents[0].owner:
        return _of_method(target, force, agents)
    if agents:
        return _started(target, force, _named(agents), _of_python(agents), agents)
    command, found = _program(target), "package.json starts"
    if not command:
        command, found = _script(target), "A script asks a model:"
    if command:
        line = f'  command: [{", ".join(command)}, "{{input}}"]   # {{input}} is the question; {_NO_INPUT}\n'
        found += f" `{shlex.join(command)}`, and agentmut.yaml runs it with the question behind it"
        return _started(target, force, line, (_sentence(found),), (NearbyAgent("command", "", "", "", 0),))
    return _of_promptfoo(target, force) or _of_imported_runs(target, force)


def _of_promptfoo(target: Path, force: bool) -> StartedBeside | None:
    """Write a project that measures the config of promptfoo in a folder, by its own provider; None without one."""
    for file, line in _SUITES:
        if (target / file).is_file() and not (target / FILE_NAME).exists():
            settings = SETTINGS.replace("  scenarios: scenarios/*.yaml\n", f"  {line}\n")
            found = f"{file} is a suite of promptfoo, and agentmut.yaml measures it with its own provider"
            written = write_project(target, {FILE_NAME: _OF_PROMPTFOO + settings}, force)
            return StartedBeside(written, (_sentence(found),), _MEASURE)
    return None


def _of_method(target: Path, force: bool, agents: Sequence[NearbyAgent]) -> StartedBeside:
    """Write a function that calls a method of the user's class, and a project that names this function."""
    first = agents[0]
    module, _, name = first.place.partition(":")
    text = _CALLS_METHOD.format(
        owner=first.owner,
        method=name.partition(".")[2],
        module=module,
        define="async def" if first.is_async else "def",
        wait="await " if first.is_async else "",
    )
    function = NearbyAgent(first.adapter, "run", f"{Path(STUB).stem}:answer", STUB, _LINE_OF_ANSWER)
    found = (
        _sentence(f"{first.place} ({first.file}:{first.line}) asks a model; {STUB} calls it for each turn"),
        *_others(agents, STUB),
    )
    return _started(target, force, _named([function]), found, agents, {STUB: text})


def _of_imported_runs(target: Path, force: bool) -> StartedBeside | None:
    """Write a project whose trials are the runs that `agentmut import` has stored in a folder; None without any."""
    if (target / FILE_NAME).exists() or not (target / FOLDER / "store.db").is_file():
        return None
    with foreign_store(target) as home:
        runs = home.store.imports.totals().trials
    if not runs:
        return None
    found = (
        f"The store holds {runs} imported run{'s' * (runs != 1)}, and agentmut.yaml takes them as its trials"
    )
    written = write_project(target, {FILE_NAME: _RECORDED}, force)
    verbs = ("agentmut test", "agentmut coverage", "agentmut relations --stored")
    return StartedBeside(written, (_sentence(found),), verbs, asks_model=False)


def has_code(folder: Path, written: Sequence[str]) -> bool:
    """Return whether a folder has files of code beside the written ones."""
    ours = {Path(path).resolve() for path in written}
    return any(path.suffix in _CODE and path.resolve() not in ours for path in own_files(folder))


def _started(
    target: Path,
    force: bool,
    named: str,
    found: Sequence[str],
    agents: Sequence[NearbyAgent],
    code: Mapping[str, str] = MappingProxyType({}),
) -> StartedBeside:
    adapter = agents[0].adapter
    is_read = adapter in _READ_WHOLE
    text = _PROJECT.format(
        first="" if is_read else _FIRST,
        adapter=adapter,
        named=named,
        config=_BY_READING if is_read else _BY_REQUEST,
    )
    files = {**code, "agentmut.yaml": text + SETTINGS, "scenarios/first.yaml": SCENARIOS_HEAD + _SCENARIO}
    written = write_project(target, files, force)
    commands = _MEASURE if is_read else (_save_in(target), *_MEASURE)
    model = model_in(target / agents[0].file)
    return StartedBeside(written, (*found, *_suites(target, agents)), commands, model=model)


def _save_in(target: Path) -> str:
    return f"agentmut doctor --save-request {shlex.quote(str(target / REQUEST))}"


def _named(agents: Sequence[NearbyAgent]) -> str:
    """Return the lines of the project file that name an agent, and the others as comments."""
    first, *others = (f"{one.key}: {one.place}   # {one.file}:{one.line}" for one in agents)
    return "".join(f"  {line}\n" for line in (first, *(f"# {other}" for other in others[:MOST_NAMED])))


def _of_python(agents: Sequence[NearbyAgent]) -> tuple[str, ...]:
    first = agents[0]
    what = "asks a model" if first.key == "run" else f"makes an agent of {first.adapter}"
    said = [_sentence(f"{first.place} ({first.file}:{first.line}) {what}, and agentmut.yaml names it")]
    return (*said, *_others(agents, "agentmut.yaml"))


def _others(agents: Sequence[NearbyAgent], where: str) -> Iterator[str]:
    """Yield which other agents were found, if there are any, and in which file a user chooses between them."""
    if others := agents[1:]:
        names = ", ".join(one.place for one in others[:MOST_NAMED])
        verb = "does" if len(others) == 1 else "do"
        yield _sentence(f"{names} {verb} so too: choose in {where} which one is measured")


def _one_graph(target: Path) -> Path | None:
    """Return `langgraph.json` if it names one graph of Python."""
    path = target / "langgraph.json"
    places = list(places_in(_json(path)).values())
    is_python = len(places) == 1 and Path(places[0].partition(":")[0]).suffix in ("", ".py")
    return path if is_python else None


def _program(target: Path) -> tuple[str, ...]:
    """Return the command that starts a Node program which asks a model; empty if there is none."""
    package = _json(target / "package.json")
    needed = package.get("dependencies")
    if not isinstance(needed, dict) or not any(name in needed for name in _AI_PACKAGES):
        return ()
    scripts = package.get("scripts")
    start = scripts.get("start") if isinstance(scripts, dict) else None
    words = start.split() if isinstance(start, str) else []
    if words[:1] == ["node"] and len(words) > 1:
        return tuple(words)
    main = package.get("main") or next(
        (one for one in ("agent.js", "index.js") if (target / one).is_file()), ""
    )
    return ("node", main) if isinstance(main, str) and (target / main).is_file() else ()


def _script(target: Path) -> tuple[str, ...]:
    """Return the command that starts the first shell script which asks a model; empty if there is none."""
    scripts = (path for path in own_files(target) if path.suffix in {".sh", ".bash"})
    asking = next((path for path in scripts if any(place in _text(path) for place in _ENDPOINTS)), None)
    if asking is None:
        return ()
    name = asking.relative_to(target).as_posix()
    return (f"./{name}",) if os.access(asking, os.X_OK) else (asking.suffix[1:], name)


def _json(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _suites(target: Path, agents: Sequence[NearbyAgent]) -> Iterator[str]:
    """Yield which suites are there already, and the line of the project file that measures each."""
    for file, line in _SUITES:
        if (target / file).is_file():
            yield f"{file} is a suite of promptfoo: `suite: {{{line}}}` measures it in place of the scenarios."
    modules = {one.place.partition(":")[0] for one in agents} - {""}
    tests = [path for path in own_files(target) if path.name.startswith("test_") and path.suffix == ".py"]
    about = [path.relative_to(target) for path in tests if any(name in _text(path) for name in modules)]
    if about:
        where = about[0].parts[0]
        tool = "deepeval" if any("deepeval" in _text(target / path) for path in about) else "pytest"
        line = f"`suite: {{{tool}: {where}}}` measures it in place of the scenarios"
        yield _sentence(f"{about[0].as_posix()} tests the agent with {tool}: {line}")


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.stat().st_size <= LARGEST else ""


def _sentence(text: str) -> str:
    return f"{text}."
