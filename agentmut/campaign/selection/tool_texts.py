"""The agent's tools, in the form that reports show."""

import json

from agentmut.campaign.selection.locate import spot
from agentmut.nouns import About, Origin, ToolText
from agentmut.recording import Redactor

LONGEST = 20_000
"""Characters of a schema above which it is left out: a result is read by people, and by pages that show it."""


def tool_texts(origin: Origin, redactor: Redactor) -> tuple[ToolText, ...]:
    """Return the text of each tool that a model reads, without secrets, and the place where the tool is written."""
    texts = []
    for number, tool in enumerate(origin.config.tools):
        place = spot(About(pointer=f"/tools/{number}"), origin).target
        schema = json.dumps(tool.parameters, indent=2, ensure_ascii=False)
        texts.append(
            ToolText(
                name=redactor.text(tool.name),
                path=place.path or "",
                line=place.line,
                description=redactor.text(tool.description),
                parameters=redactor.text(schema) if len(schema) <= LONGEST else "",
            )
        )
    return tuple(texts)
