"""Something that does not belong there gets into the prompt."""

from collections.abc import Iterable, Iterator

from agentmut._base import shipped
from agentmut.language import parse, quoted, reads_as_english
from agentmut.nouns import About, AgentConfig, Candidate, Intent, prompt_edit
from agentmut.operators.prompt.paragraph_places import end_of, middle_of
from agentmut.operators.shared_edits import line_break, prompt_example
from agentmut.seams import OperatorOptions, operator

_SHIPPED = shipped("agentmut.operators.prompt", "added_texts")
_DISTRACTIONS = tuple(_SHIPPED["distractions"])
_PLACES = ("end", "middle")
_DEMANDS = tuple(_SHIPPED["demands"])
_CONTRADICTIONS = tuple(_SHIPPED["contradictions"])
_NO_ENGLISH = "the prompt is not English"


@operator(
    "prompt.inject_noise",
    why="Prompts pick up stray remarks from wikis, templates and other teams.",
    intent=Intent.PRESERVE,
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_DISTRACTIONS[0]}\n")],
    lack=_NO_ENGLISH,
    english=True,
)
def inject_noise(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Add one harmless, irrelevant sentence as a paragraph of its own to an English prompt.

    A small fixed list of sentences, in turn at the end and at the blank line nearest to the middle; those
    for the middle have no mutants where there is no blank line.
    """
    yield from _added(config, [(sentence, _PLACES[n % 2]) for n, sentence in enumerate(_DISTRACTIONS)])


@operator(
    "prompt.inject_distraction",
    why="Marketing or another team adds a wish of its own to a prompt that it shares.",
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_DEMANDS[0]}\n")],
    lack=_NO_ENGLISH,
    english=True,
)
def inject_distraction(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Add one demand that was never agreed on to an English prompt: one at the end and one in the middle."""
    yield from _added(config, [(sentence, _PLACES[n % 2]) for n, sentence in enumerate(_DEMANDS)])


@operator(
    "prompt.inject_contradiction",
    why="A way out is added for a single complaint, and it is open to everybody.",
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_CONTRADICTIONS[0]}\n")],
    lack=_NO_ENGLISH,
    english=True,
)
def inject_contradiction(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants of an English prompt: a sentence at the end that takes the force of all rules above it."""
    yield from _added(config, [(sentence, "end") for sentence in _CONTRADICTIONS])


def _added(config: AgentConfig, sentences: Iterable[tuple[str, str]]) -> Iterator[Candidate]:
    """Yield each sentence as a paragraph at its place, where the prompt is English and has such a place."""
    prompt = config.prompt
    if not prompt.strip() or not reads_as_english(prompt):
        return
    document = parse(prompt, config.tool_names)
    places = {"end": end_of(document), "middle": middle_of(document)}
    for sentence, place in sentences:
        at = places[place]
        if at is not None:
            yield Candidate(
                edits=(prompt_edit(prompt, at, at, line_break(prompt) * 2 + sentence),),
                description=f"add {quoted(sentence)} {'in' if place == 'middle' else 'at'} the {place}",
                anchor=place,
                about=(About(pointer="/prompt", span=(at, at)),),
            )
