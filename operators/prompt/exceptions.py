"""An operator that drops the exception of a rule."""

import re
from collections.abc import Iterator

from agentmut.language import BASE_VERBS, Instruction, PromptDocument, quoted, splits
from agentmut.nouns import AgentConfig, Candidate, prompt_edit
from agentmut.operators.prompt.replaced_words import english_instructions
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_Cut = tuple[int, int, str]
"""Where a clause stands in a text, and what takes its place."""

_OPENING = r"(?:unless|except(?:ing)?|excluding|other than|with the exception of)"
_IN_BRACKETS = re.compile(rf"(?<!\s)\s*+\((?:{_OPENING}|but not)\b[^()]*\)", re.IGNORECASE)
_AT_START = re.compile(
    rf"(?P<before>\W*){_OPENING}\b[^,;:]*,\s+(?P<next>\w)(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_CLEAR = re.compile(r"(?:you|do|don['’]t|never|always|only|please)\b", re.IGNORECASE)
_INSIDE = re.compile(
    rf"(?P<gap>(?P<comma>,)\s+|(?<!\s)(?:\s+|\s*[–—]\s*|\s+-\s+))(?P<word>{_OPENING}|but not|without)\b",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    r"\b(?:every(?:thing|one|body)|any(?:thing|one|body)|all(?: \w+)?|nothing|nobody|no one)"
    r"(?P<cut> but (?!not\b|also\b|only\b|never\b|do\b|you\b|it\b|they\b|that\b|there\b)[^,;:.!?()]+)(?=[.!?*_]*$)",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(r"(?<!\s)\s*[,;–—]\s*(?:or )?otherwise,?\s[^;–—.!?]*(?=[.!?*_]*$)", re.IGNORECASE)
_ONLY_IF = re.compile(
    r"(?P<cut>,? (?:if and )?only (?:if|when|after) [^,;:.!?()]+)(?=[.!?*_]*$)", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"(?<!\s)\s*(?:;|\s[–—-]\s|—)(?=[^;–—.!?]*+[.!?*_]*$)[^;–—.!?]*\binstead\b(?! of)[^;–—.!?]*",
    re.IGNORECASE,
)
_STOP = re.compile(
    r";|\s[–—-]\s|—|\)|[.!?](?=\s)|(?<!\s)\s+and (?:never|always|do|then)\b|(?<![.!?*_\s])[.!?*_\s]*$",
    re.IGNORECASE,
)
_HANGS_ON = re.compile(r",\s*(?:in (?:which|that|this) case|then|where|which|who|whose)\b", re.IGNORECASE)
_GOES_ON = re.compile(r",\s*(?:and|but|so|then)\s+\S+\s+\S", re.IGNORECASE)
_VERB_ALONE = re.compile(r"\b(?:can|may|must|should|will|to)\s+\w+$", re.IGNORECASE)
_BEFORE_NOUNS = frozenset(["except", "excepting", "excluding", "other than", "with the exception of"])
_VERB = re.compile(
    r"(?!\s+(?:if|when|where|that|as|what|while|after|before|during|who|those|whatever)\b)"
    r".*\b(?:are|is|was|were|can|may|must|should|will|shall|have|has|goes?|needs?|requires?|counts?|do|does)\b",
    re.IGNORECASE | re.DOTALL,
)
_PROHIBITS = re.compile(r"\b(?:never|not|cannot|no|nothing|nobody|avoid)\b|n['’]t\b", re.IGNORECASE)
_ANY = re.compile(r"\b(?:any\w*|no|none|nothing|nobody|no one|all|every\w*)\b(?:\s+\w+){0,2}$", re.IGNORECASE)


@operator(
    "prompt.drop_exception",
    why="A rule is tidied up to sound clearer, and the special case it allowed for is gone.",
    examples=[prompt_example("Never issue a refund unless a manager agrees.\n", "Never issue a refund.\n")],
    english=True,
)
def drop_exception(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per exception clause of an English instruction, in the order of the text.

    "unless", "except", "but not", "everything but", "other than" (anything), "excluding", "without" after a
    prohibition, "; ... instead", ", otherwise ...", "only if ...", in brackets or at the start of a sentence too.
    Where it is not certain which words belong to the clause, such as lists with commas, there is none.
    """
    for document, instruction in english_instructions(config):
        for start, end, after in _clauses(document, instruction):
            dropped = config.prompt[start:end]
            yield Candidate(
                edits=(prompt_edit(config.prompt, start, end, after),),
                description=f"drop {quoted(dropped.strip(' ,;–—-'))} of {quoted(instruction.text)}",
                anchor=instruction.text,
            )


def _clauses(document: PromptDocument, instruction: Instruction) -> Iterator[_Cut]:
    text = instruction.text
    if text.endswith(":"):
        return
    last = 0
    for start, end, after in sorted({*_bracketed(text), *_leading(text), *_inner(text), *_at_the_end(text)}):
        rest = f"{text[:start]}{after}{text[end:]}"
        place = instruction.start + start, instruction.start + end
        cuts_protected = any(splits(document.protected, offset) for offset in place)
        if start >= last and not cuts_protected and _is_whole(text[start:end]) and _says_enough(rest):
            yield *place, after
            last = end


def _says_enough(rest: str) -> bool:
    """Return whether the rest of a cut instruction is a sentence: more than a word, or the verb of an order."""
    words = rest.split()
    return len(words) > 1 or rest.strip(" *_.!,").lower() in BASE_VERBS


def _is_whole(clause: str) -> bool:
    """Return whether nothing is opened or closed in the clause that is closed or opened outside of it."""
    return all(clause.count(mark) % 2 == 0 for mark in ("**", "__", "`", '"')) and (
        clause.count("(") == clause.count(")") and clause.count("{") == clause.count("}")
    )


def _bracketed(text: str) -> Iterator[_Cut]:
    return ((*match.span(), "") for match in _IN_BRACKETS.finditer(text))


def _leading(text: str) -> Iterator[_Cut]:
    found = _AT_START.match(text)
    if found and ("," not in found["rest"] or _CLEAR.match(text, found.start("next"))):
        yield found.end("before"), found.end("next"), found["next"].upper()


def _inner(text: str) -> Iterator[_Cut]:
    for found in _INSIDE.finditer(text):
        before = text[: found.start()]
        word = found["word"].lower()
        if word == "without" and not _PROHIBITS.search(before):
            continue
        # "can add but not remove bags": the bags are of both
        if word == "but not" and _VERB_ALONE.search(before):
            continue
        if word == "other than" and not (_ANY.search(before) and len(before.split()) > 2):
            continue
        stop = _STOP.search(text, found.end())
        end = _end(text, found, stop.start() if stop else len(text))
        if end and word in _BEFORE_NOUNS and _VERB.match(text, found.end(), end):
            continue  # "All tools except search are free": the verb of the rule, not of the clause
        if end and before.strip():
            yield found.start(), end, ""


def _end(text: str, found: re.Match[str], limit: int) -> int | None:
    """Return where the clause ends; None where a comma in it leaves that open."""
    comma = text.find(",", found.end(), limit)
    if comma < 0 or _HANGS_ON.match(text, comma):
        return limit
    if _GOES_ON.match(text, comma) and text.find(",", comma + 1, limit) < 0:
        return comma + 1 if found["comma"] else comma
    return None


def _at_the_end(text: str) -> Iterator[_Cut]:
    for pattern in (_INSTEAD, _OTHERWISE):
        found = pattern.search(text)
        if found and found.start():
            yield *found.span(), ""
    for pattern in (_ALL_BUT, _ONLY_IF):
        found = pattern.search(text)
        if found and found.start("cut"):
            yield *found.span("cut"), ""
