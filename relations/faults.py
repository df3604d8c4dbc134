"""Follow-up runs in which the results of one tool differ from those of the source run."""

from collections.abc import Collection

from agentmut.nouns import Edit, FaultKind, FollowUpRun, Source, ToolFault


def run_with_fault(
    source: Source, called: Collection[str | None], kind: FaultKind
) -> tuple[FollowUpRun, str] | None:
    """Return a run with a fault in one of the tools that the source run called, and the name of that tool.

    Chance draws the tool among those that have no fault yet. None without such a tool.
    """
    tools = [
        index
        for index, tool in enumerate(source.config.tools)
        if tool.fault is None and {tool.name, tool.own_name} & set(called)
    ]
    if not tools:
        return None
    index = source.rng.choice(tools)
    fault = ToolFault(kind=kind).model_dump(mode="json", exclude_defaults=True)
    edit = Edit(pointer=f"/tools/{index}/fault", before=None, after=fault)
    return FollowUpRun(edits=(edit,)), source.config.tools[index].name
