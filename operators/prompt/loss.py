"""Operators that drop a piece of the prompt: an instruction, a section, an example, or everything behind a cut."""

from collections import Counter
from collections.abc import Iterator

from agentmut.language import Nesting, PromptDocument, Section, Span, balanced, parse, quoted, splits
from agentmut.nouns import AgentConfig, Candidate, Effect, prompt_edit
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_FRACTIONS = {"three quarters": 0.75, "half": 0.5}


@operator(
    "prompt.drop_instruction",
    effect=Effect.DROPS_RULE,
    why="A prompt is shortened or merged, and a rule gets lost on the way.",
    examples=[prompt_example("# Rules\n- Be polite.\n- Never guess.\n", "# Rules\n- Never guess.\n")],
)
def drop_instruction(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per instruction, in the order of the prompt: it is gone, with its bullet and line break.

    What stands under it stays: the sub-items of a list item, the code block it announces. An instruction
    that opens or closes a block of a template is left alone, since the template would no longer render.
    """
    for instruction in parse(config.prompt, config.tool_names).instructions:
        if balanced(config.prompt, instruction.removal):
            yield _cut(config, instruction.removal, quoted(instruction.text), instruction.text)


@operator(
    "prompt.drop_section",
    why="A section is moved to another file or behind a flag, and the include is forgotten.",
    examples=[
        prompt_example(
            "# Tone\nBe polite.\n\n# Limits\nNever guess. Ask instead.\n",
            "# Limits\nNever guess. Ask instead.\n",
        )
    ],
)
def drop_section(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per section, outer before inner: heading and all under it, or the element of a tag.

    A section that holds every instruction stays, and so does one that is a single instruction on one line.
    """
    document = parse(config.prompt, config.tool_names)
    titles = Counter(section.title for section in document.sections)
    for section in document.sections:
        if _is_a_part(document, section) and balanced(config.prompt, section.removal):
            section_text = config.prompt[section.start : section.end]
            what = f"the section {quoted(section.title)}"
            alone = titles[section.title] == 1
            yield _cut(config, section.removal, what, section.title if alone else _opening(section_text))


def _is_a_part(document: PromptDocument, section: Section) -> bool:
    """Return whether instructions are left without the section, and more than one line is lost with it."""
    several = "\n" in document.text[section.start : section.end]
    before = bool(document.instructions) and document.instructions[0].start < section.start
    after = bool(document.instructions) and document.instructions[-1].start >= section.end
    return several and (before or after)


def _opening(text: str) -> str:
    """Return the first two lines, which distinguish a section from others of the same title."""
    return "\n".join(text.split("\n", 2)[:2])


@operator(
    "prompt.drop_example",
    why="Examples are cut to save tokens, or when somebody finds one outdated.",
    examples=[
        prompt_example(
            "Label it.\n\nInput: broken\nOutput: bug\n\nInput: add it\nOutput: feature\n",
            "Label it.\n\nInput: add it\nOutput: feature\n",
        )
    ],
)
def drop_example(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per few-shot example: tagged, a round of a dialogue, or one under such a heading."""
    for example in parse(config.prompt, config.tool_names).examples:
        example_text = config.prompt[example.start : example.end]
        if balanced(config.prompt, example.removal):
            yield _cut(config, example.removal, f"the example {quoted(example_text)}", example_text)


@operator(
    "prompt.truncate",
    why="A length limit, a bad copy or a column of a database cuts the end of a prompt off.",
    examples=[
        prompt_example("Be kind. Be brief. Never guess. Ask first.", "Be kind. Be brief. Never guess.")
    ],
)
def truncate(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants, the first three quarters and the first half of the prompt.

    The cut is behind the last instruction that is whole then, for the second an earlier one, and never in
    protected text or inside a block of a template. At least one instruction stays and one is lost.
    """
    document = parse(config.prompt, config.tool_names)
    ends = _cuts(document)
    for name, fraction in _FRACTIONS.items():
        most = len(config.prompt.rstrip()) * fraction
        ends = [end for end in ends if end <= most]
        if ends:
            end = ends.pop()  # so that the second mutant is another than the first
            edit = prompt_edit(config.prompt, end, len(config.prompt), after="")
            yield Candidate(edits=(edit,), description=f"cut the prompt to its first {name}", anchor=name)


def _cuts(document: PromptDocument) -> list[int]:
    nesting = Nesting(document.text)
    return [
        instruction.end
        for instruction in document.instructions[:-1]
        if not splits(document.protected, instruction.end) and not nesting.depth(instruction.end)
    ]


def _cut(config: AgentConfig, span: Span, description: str, anchor: str) -> Candidate:
    edit = prompt_edit(config.prompt, *span, after="")
    return Candidate(edits=(edit,), description=f"drop {description}", anchor=anchor)
