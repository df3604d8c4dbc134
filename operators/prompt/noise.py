"""Something that does not belong there gets into the prompt."""

import re
from collections.abc import Iterator

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Intent
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.operators.edits import prompt_edit, prompt_example
from agentmut.protocols import OperatorOptions
from agentmut.text import PromptDocument, parse
from agentmut.text.spans import splits

_DISTRACTIONS = (
    "The kitchen on the third floor is being repainted this week.",
    "Our summer party takes place on the last Friday of June.",
    "The colour of the app icon was changed from blue to green last year.",
    "This page was moved from the old wiki to the new one in spring.",
)
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


@operator(
    "prompt.inject_noise",
    why="Prompts pick up stray remarks from wikis, templates and other teams.",
    intent=Intent.PRESERVE,
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_DISTRACTIONS[0]}\n")],
)
def inject_noise(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Adds one harmless, irrelevant sentence as a paragraph of its own.

    A small fixed list of sentences, in turn at the end and at the blank line nearest to the middle; those
    for the middle have no mutants where there is no blank line.
    """
    prompt = config.prompt
    if not prompt.strip():
        return
    document = parse(prompt, config.tool_names)
    places = {"end": _end(document), "middle": _middle(document)}
    line_break = "\r\n" if "\r\n" in prompt else "\n"
    for number, sentence in enumerate(_DISTRACTIONS):
        place = "middle" if number % 2 else "end"
        at = places[place]
        if at is not None:
            yield Candidate(
                edits=(prompt_edit(prompt, at, at, line_break * 2 + sentence),),
                description=f"add {quoted(sentence)} at the {place}",
                anchor=place,
            )


def _end(document: PromptDocument) -> int:
    last = len(document.text.rstrip())
    return len(document.text) if splits(document.protected, last) else last


def _middle(document: PromptDocument) -> int | None:
    half = len(document.text) // 2
    inner = _BLANK_LINE.finditer(document.text, 0, len(document.text.rstrip()))
    places = [match.start() for match in inner if not splits(document.protected, match.start() + 1)]
    return min((place for place in places if place), key=lambda place: abs(place - half), default=None)
