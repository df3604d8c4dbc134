"""Where `langgraph.json` says that graphs are: a file or a module, and the object in it."""

import re
from collections.abc import Mapping
from typing import Any

PLACE_OF_GRAPH = r"^[\w./-]+:\w+(\.\w+)*$"
"""`module:object`, or `path/to/file.py:object`."""


def reference_to(place: str) -> str:
    """Return the place of a graph as `module:object`, looked for in the project's folder.

    >>> reference_to("./my_agent/graph.py:make"), reference_to("my_agent.graph:make")
    ('my_agent.graph:make', 'my_agent.graph:make')
    """
    path, _, name = place.rpartition(":")
    if not path.endswith(".py"):
        return place
    return f"{re.sub(r'^(?:[.]/)+', '', path).removesuffix('.py').replace('/', '.')}:{name}"


def places_in(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the places of the graphs that the content of a `langgraph.json` names, by name.

    >>> places_in({"graphs": {"desk": "./desk.py:graph", "far": {"path": "./far.py:graph"}}})
    {'desk': './desk.py:graph', 'far': './far.py:graph'}
    """
    graphs = values.get("graphs")
    written = graphs.items() if isinstance(graphs, dict) else ()
    found = {name: place.get("path") if isinstance(place, dict) else place for name, place in written}
    return {str(name): place for name, place in found.items() if isinstance(place, str)}
