"""`agentmut init --from langgraph.json`: a project for an existing graph, which stays unchanged."""

from pathlib import Path

from agentmut._base import UsageError, nearest
from agentmut.project import places_in, split_part
from agentmut.seams import ConfigFile
from agentmut.usecases.starting import SCENARIOS_HEAD, SETTINGS

_PROJECT = """\
# What agentmut breaks, which tests it measures, and with how much evidence.
#   agentmut doctor --save-request agent.json   what the graph asks of its model; then `config: {{request: agent.json}}`
#   agentmut mutants                       what would be broken (--diff: how)
#   agentmut simulate -- agentmut run      try it offline, against a simulated model
#   agentmut run                           with the graph's own model
version: 1

agent:
  adapter: langgraph
  graph: {place}   # as {file} has it

"""
_SCRIPTS = (".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs")
_SCENARIO = """\
- name: first
  input: Hello, what can you do for me?
  evaluators:
  - regex: \\w
"""


def files_for_graph(target: Path, source: Path) -> dict[str, str] | None:
    """Return the files of a project for a graph of `langgraph.json#NAME`, by path; None for any other file.

    The places of graphs are relative to the file's folder, and so is the project. Raises `UsageError`.
    """
    source, wanted = split_part(source)
    places = (
        places_in(ConfigFile(source).values) if source.name == "langgraph.json" and source.is_file() else {}
    )
    if not places:
        return None
    if target.resolve() != source.resolve().parent:
        raise UsageError(
            f"the graphs of {source.name} are found from its folder: `agentmut init {source.parent} --from {source}`."
        )
    if wanted and wanted not in places:
        raise UsageError(f"{source.name} has no graph {wanted!r}. {nearest(wanted, places)}")
    first = next(iter(places))
    if not wanted and len(places) > 1:
        raise UsageError(
            f"{source.name} names {len(places)} graphs: {', '.join(places)}. Name one, as in {source.name}#{first}."
        )
    place = places[wanted or first]
    if Path(place.partition(":")[0]).suffix in _SCRIPTS:
        raise UsageError(
            f"the graph {place} is JavaScript, which agentmut does not import. Start its server (`npx @langchain/"
            "langgraph-cli dev`), begin with `agentmut init`, and write `adapter: langgraph_remote` and `url: "
            "http://127.0.0.1:2024` into agentmut.yaml."
        )
    return {
        "agentmut.yaml": _PROJECT.format(place=place, file=source.name) + SETTINGS,
        "scenarios/first.yaml": SCENARIOS_HEAD + _SCENARIO,
    }
