"""LangGraph's `langgraph.json`, which names graphs and describes none."""

from typing import ClassVar

from agentmut._base import ProjectError
from agentmut.project.graph_places import places_in
from agentmut.seams import ConfigFile, FoundAgent


class LangGraphJson:
    """Names of graphs and the code that makes them. It holds no prompt and no tools."""

    name: ClassVar[str] = "langgraph_json"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file is JSON with graphs."""
        return file.suffix == ".json" and isinstance(file.values.get("graphs"), dict)

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Raise `ProjectError`: prompt and tools are in the code of the graphs."""
        graphs = ", ".join(f"{name} ({place})" for name, place in places_in(file.values).items())
        raise ProjectError(
            f"{file.label} names graphs, {graphs}, and holds no prompt and no tools: they are in the graphs' code. "
            "Make a project of one: `agentmut init --from langgraph.json`, and list the mutants of the project."
        )
