"""Operators that repeat an instruction, unchanged or reversed."""

import re
from collections.abc import Iterator

from agentmut.language import Instruction, PromptDocument, parse, quoted, unclosed_spans
from agentmut.nouns import About, AgentConfig, Candidate, Intent, prompt_edit
from agentmut.operators.prompt.paragraph_places import end_of
from agentmut.operators.prompt.replaced_words import english_instructions
from agentmut.operators.shared_edits import line_break, prompt_example
from agentmut.seams import OperatorOptions, operator

_REVERSALS = (
    (re.compile(r"(?P<mark>[*_]*)(?P<word>Always|ALWAYS)\b"), "Never"),
    (re.compile(r"(?P<mark>[*_]*)(?P<word>Never|NEVER)\b"), "Always"),
    (re.compile(r"(?P<mark>[*_]*)(?P<word>(?:Do not|DO NOT|Don['’]t))(?= [a-z])"), "Always"),
    (re.compile(r"(?P<mark>[*_]*You )(?P<word>must not|must never)(?= [a-z])"), "may"),
    (re.compile(r"(?P<mark>[*_]*You )(?P<word>must(?: always)?)(?= (?!not\b|never\b)[a-z])"), "must not"),
)
_EACH = re.compile(
    r"\b(?P<every>every|each)(?= (?!of\b)[a-z])|\ball of(?= the\b)|\ball(?= the\b)|\b(?P<all>all)(?= [a-z]+s\b)"
)
_WHOLE = re.compile(r"\b(?:all|every|each|everything|everyone)\b", re.IGNORECASE)
# A second negation or condition: turned round, it would no longer conflict. A pronoun points elsewhere.
_UNCERTAIN = re.compile(
    r"\b(?:not|never|no|none|nothing|nor|neither|without|unless|except|but|instead|only|any|anything|anyone|at all"
    r"|it|its|them|they|this|these|those|ever|either|until|otherwise|cannot|both|more than|less than)\b|n['’]t\b|[;:?]",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"(?<!\s)\s*\n\s*")
_OWN_INDENT = re.compile(r"(?P<indent>[ \t]*)")
_INDENT = re.compile(r"[ \t]*(?:\r?\n[ \t]*)*\r?\n(?P<indent>[ \t]*)(?=\S)")
_STEP = re.compile(
    r"\W*(?:first|then|next|after|finally|lastly|second|third|begin|start|end|finish)\b", re.IGNORECASE
)


@operator(
    "prompt.contradict",
    why="A rule is changed where it was found first, and its old version lives on elsewhere.",
    examples=[
        prompt_example(
            "- Always ask for the order number.\n",
            "- Always ask for the order number.\n\nNever ask for the order number.\n",
        )
    ],
    on_demand=True,
    english=True,
)
def contradict(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per English rule that surely can be reversed: the reverse is added as a last paragraph."""
    for document, instruction in english_instructions(config):
        opposite = None if unclosed_spans(instruction.text) else conflicting(instruction.text)
        if opposite:
            at, gap = end_of(document), line_break(config.prompt) * 2
            yield Candidate(
                edits=(prompt_edit(config.prompt, at, at, gap + opposite),),
                description=f"add {quoted(opposite)} at the end",
                anchor=instruction.text,
                about=(About(pointer="/prompt", span=(instruction.start, instruction.end)),),
            )


def conflicting(text: str) -> str | None:
    """Return the reverse of a rule, where it is one of a few plain forms and certain to conflict.

    >>> conflicting("Never guess."), conflicting("Guess.")
    ('Always guess.', None)
    """
    for pattern, opposite in _REVERSALS:
        found = pattern.match(text)
        if found and not _UNCERTAIN.search(text, found.end()):
            said = opposite.upper() if found["word"].isupper() else opposite
            rest = _LINE_BREAK.sub(" ", text[found.end() :])
            if said.lower() in ("never", "must not") and _EACH.search(rest):  # "not every" would leave some
                said = said.replace("must not", "must never")
                rest = _EACH.sub(lambda each: "any" if each["every"] or each["all"] else "any of", rest)
            return None if _WHOLE.search(rest) else f"{found['mark']}{said}{rest}"
    return None


@operator(
    "prompt.duplicate",
    why="Two versions of a prompt are merged, and a rule ends up in it twice.",
    intent=Intent.PRESERVE,
    examples=[
        prompt_example("- Be polite.\n- Never guess.\n", "- Be polite.\n- Be polite.\n- Never guess.\n")
    ],
)
def duplicate(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per bullet that is a single rule: its line stands there twice.

    Steps are left alone, since a step that is listed twice may be taken twice: numbered items, "First ...".
    So are items with something under them, or with a placeholder that never closes.
    """
    document = parse(config.prompt, config.tool_names)
    gap = line_break(config.prompt)
    for instruction in document.instructions:
        if _is_plain_bullet(document, instruction) and not unclosed_spans(instruction.text):
            at, after = _second(config.prompt, instruction, gap)
            yield Candidate(
                edits=(prompt_edit(config.prompt, at, at, after),),
                description=f"repeat {quoted(instruction.text)}",
                anchor=instruction.text,
                about=(About(pointer="/prompt", span=(instruction.start, instruction.end)),),
            )


def _second(prompt: str, instruction: Instruction, gap: str) -> tuple[int, str]:
    """Return where the line's second copy goes, and the copy with its line break."""
    start = prompt.rfind("\n", 0, instruction.start) + 1
    line, end = prompt[start : instruction.end], prompt.find("\n", instruction.end) + 1
    if end:
        return end, line + gap
    return len(prompt), gap + line


def _is_plain_bullet(document: PromptDocument, instruction: Instruction) -> bool:
    start, end = instruction.removal
    line = document.text[start:end]
    whole = line.strip().startswith(instruction.marker) and line.strip().endswith(instruction.text)
    bullet = bool(instruction.marker) and not any(map(str.isalnum, instruction.marker))
    return bullet and whole and not _STEP.match(instruction.text) and not _has_more(document, instruction)


def _has_more(document: PromptDocument, instruction: Instruction) -> bool:
    """Return whether the next line that is not empty stands under the instruction's."""
    start = document.text.rfind("\n", 0, instruction.start) + 1
    following = _INDENT.match(document.text, instruction.end)
    own = _OWN_INDENT.match(document.text, start)
    return bool(following and own and len(following["indent"]) > len(own["indent"]))
