"""Rules go to another place, or the place that they came from is lost."""

import re
from collections.abc import Iterator

from agentmut.language import (
    Instruction,
    PromptDocument,
    Section,
    balanced,
    parse,
    quoted,
    splits,
    stems,
)
from agentmut.nouns import About, AgentConfig, Candidate, Edit, prompt_edit
from agentmut.operators.prompt.replaced_words import english_instructions
from agentmut.operators.shared_edits import line_break, prompt_example
from agentmut.operators.tool.example_tools import LOOK_UP
from agentmut.seams import Example, OperatorOptions, operator

_INCLUDE = re.compile(
    r"(?P<at>(?<!\S)@(?=[\w./~-]+\.\w))|(?P<tag>\{%-?\s*include\b[^%]*%\}|\{\{>[^{}]*\}\}|\{\{#include[^{}]*\}\})"
)
_TRIGGER = re.compile(
    r"(?P<trigger>(?:If|When|Whenever|As soon as|Before|After|Once)\b[^,.;:?!\n]{3,80}),(?= \w)"
)
_VAGUE = "Where it makes sense"
_SLUG = re.compile(r"[^a-z0-9]+")


@operator(
    "prompt.move_to_tool",
    why="A rule is moved next to the tool that it is about, where it counts for less.",
    examples=[
        Example(
            AgentConfig(prompt="- Be kind.\n- Ask before you look up an order.\n", tools=(LOOK_UP,)),
            AgentConfig(
                prompt="- Be kind.\n",
                tools=(
                    LOOK_UP.model_copy(
                        update={"description": f"{LOOK_UP.description} Ask before you look up an order."}
                    ),
                ),
            ),
        )
    ],
    lack="no rule of the prompt shares two words with a tool",
    on_demand=True,
)
def move_to_tool(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each rule that shares two words with a tool: the rule is in the tool's description."""
    known = [stems(f"{tool.name} {tool.description}") for tool in config.tools]
    document = parse(config.prompt, config.tool_names)
    for instruction in document.instructions if len(document.instructions) > 1 else ():
        shared = [len(stems(instruction.text) & words) for words in known]
        if not shared or max(shared) < 2 or not balanced(config.prompt, instruction.removal):
            continue
        index = shared.index(max(shared))
        tool = config.tools[index]
        moved = f"{tool.description} {instruction.text}".strip()
        yield Candidate(
            edits=(
                prompt_edit(config.prompt, *instruction.removal, ""),
                Edit(pointer=f"/tools/{index}/description", before=tool.description, after=moved),
            ),
            description=f"move {quoted(instruction.text)} to the description of {tool.name}",
            anchor=instruction.text,
        )


@operator(
    "prompt.replace_by_pointer",
    why="A section is moved to a file of its own, and the prompt only points there.",
    examples=[
        prompt_example(
            "# Tone\nBe polite.\nBe brief.\n\n# Limits\nNever guess. Ask instead.\n",
            "# Tone\n\n[Tone](tone.md)\n\n# Limits\nNever guess. Ask instead.\n",
        )
    ],
    on_demand=True,
)
def replace_by_pointer(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each section under a heading: a link to a file stands in its place."""
    document = parse(config.prompt, config.tool_names)
    for section in document.sections:
        body = _body(document, section)
        if body and any(body[0] <= instruction.start < body[1] for instruction in document.instructions):
            gap = line_break(config.prompt)
            link = f"{gap}[{section.title}]({_SLUG.sub('-', section.title.lower()).strip('-') or 'rules'}.md)"
            yield Candidate(
                edits=(prompt_edit(config.prompt, *body, link),),
                description=f"replace the section {quoted(section.title)} by a link to a file",
                anchor=section.title,
                about=(About(pointer="/prompt", span=body),),
            )


def _body(document: PromptDocument, section: Section) -> tuple[int, int] | None:
    """Return what stands below the heading of a section; None for sections of another kind, and small ones."""
    section_text = document.text[section.start : section.end]
    heading, line, rest = section_text.partition("\n")
    if not heading.lstrip().startswith("#") or not rest.strip():
        return None
    start = section.start + len(heading) + len(line)
    end = section.start + len(section_text.rstrip())
    return (start, end) if balanced(document.text, (start, end)) else None  # type: ignore[arg-type]


@operator(
    "prompt.break_include",
    why="A character of an include is lost, and the file is not read any more.",
    examples=[prompt_example("Be polite.\nSee @docs/rules.md\n", "Be polite.\nSee docs/rules.md\n")],
    lack="the prompt includes no file",
    on_demand=True,
)
def break_include(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each `@file.md`, which loses its `@`, and for each include of a template, which is gone."""
    for found in _INCLUDE.finditer(config.prompt):
        line = config.prompt[found.start() :].split(maxsplit=1)[0]
        yield Candidate(
            edits=(prompt_edit(config.prompt, *found.span(), ""),),
            description=f"break the include {quoted(line)}",
            anchor=config.prompt[found.start() : found.end() + 40],
        )


@operator(
    "prompt.replace_base",
    why="A text that was to be added to the prompt takes its place.",
    examples=[prompt_example("Be kind. Be brief. Never guess. Ask first.", "Never guess. Ask first.")],
    lack="the prompt has fewer than two instructions",
    on_demand=True,
)
def replace_base(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: only the second half of the instructions is left."""
    document = parse(config.prompt, config.tool_names)
    half = document.instructions[len(document.instructions) // 2 :] if len(document.instructions) > 1 else ()
    for first in half[:1]:
        start = config.prompt.rfind("\n", 0, first.start) + 1
        start = start if not config.prompt[start : first.start].strip(" \t-*+0123456789.)#") else first.start
        if start and balanced(config.prompt, (0, start)) and not splits(document.protected, start):  # type: ignore[arg-type]
            yield Candidate(
                edits=(prompt_edit(config.prompt, 0, start, ""),),
                description=f"leave only what begins with {quoted(first.text)}",
                anchor="second half",
            )


@operator(
    "prompt.blur_trigger",
    why="A clear condition is rewritten to sound friendlier, and says no longer when the rule holds.",
    examples=[prompt_example("If the parcel is late, offer a refund.", f"{_VAGUE}, offer a refund.")],
    lack="no English rule begins with a condition",
    on_demand=True,
    english=True,
)
def blur_trigger(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each English rule that begins with a condition and a comma: the condition is vague."""
    for document, instruction in english_instructions(config):
        found = _TRIGGER.match(instruction.text)
        if found:
            yield from _blurred(document, instruction, found)


def _blurred(document: PromptDocument, instruction: Instruction, found: re.Match[str]) -> Iterator[Candidate]:
    start, end = (instruction.start + offset for offset in found.span("trigger"))
    if document.text[start:end] == found["trigger"] and not document.protects(start, end):
        yield Candidate(
            edits=(prompt_edit(document.text, start, end, _VAGUE),),
            description=f"say {quoted(_VAGUE)} for {quoted(found['trigger'])}",
            anchor=instruction.text,
        )


@operator(
    "prompt.stale_tool_name",
    why="A tool is renamed, and the prompt goes on with the name that it had.",
    examples=[
        Example(
            AgentConfig(prompt="Call look_up_order first.", tools=(LOOK_UP,)),
            AgentConfig(prompt="Call legacy_look_up_order first.", tools=(LOOK_UP,)),
        )
    ],
    lack="the prompt names no tool",
    on_demand=True,
)
def stale_tool_name(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each tool that the prompt names: the prompt has another name for it everywhere."""
    for tool in config.tools:
        old = f"legacy_{tool.name}"
        named = list(re.finditer(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", config.prompt))
        if named and old not in config.tool_names:
            yield Candidate(
                edits=tuple(prompt_edit(config.prompt, *place.span(), old) for place in named),
                description=f"call the tool {tool.name} {old} in the prompt",
                anchor=tool.name,
                subject=tool.name,
            )
