"""A document says two things that cannot both be true."""

import re
from collections.abc import Iterator, Mapping, Sequence

from agentmut._base import shipped
from agentmut.language import Deviation, Instruction, StatedFact, parse, quoted, reads_as_english
from agentmut.nouns import About, AgentConfig, Candidate, Reach
from agentmut.operators.context.documents import document_example, of_document, text_edit
from agentmut.operators.context.values import is_metadata, restated, stated_facts
from agentmut.operators.shared_edits import line_break
from agentmut.seams import OperatorOptions, operator

_SHIPPED = shipped("agentmut.operators.context", "added_texts")
_AFFIRMED: Mapping[str, str] = _SHIPPED["affirmed"]
_DENIED: Mapping[str, str] = _SHIPPED["denied"]
_VERB = re.compile(rf"\b(?:{'|'.join(sorted({**_AFFIRMED, **_DENIED}, key=len, reverse=True))})\b")
_TRICKY = re.compile(
    r"^\W*(?:if|when|whenever|unless|where|while|although|as|after|before|once|in case)\b"
    r"|\b(?:never|no|nobody|none|neither|nor|nothing|without|hardly|only|any|either|yet|until|at all)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_STATES = re.compile(r"(?:is|are)\b")
# What a page grants may change; that "guidance is law" is no version of "guidance is not law".
_GRANTS = re.compile(
    r"\s+(?:free|included|available|allowed|permitted|open|closed|required|possible|covered|refund\w*|accepted|eligible"
    r"|returnable|exchang\w+|valid|taxed|insured|needed|necessary|mandatory|optional|entitled|delivered|shipped|charged"
    r"|final|welcome)\b"
)
_DEPENDENT = re.compile(r"\b(?:that|which|who|what|whose|where|if|when|as|than)\b", re.IGNORECASE)


@operator(
    "context.contradict_fact",
    why="A page is amended in one place and not in another, or two sources are merged.",
    reach=Reach.CARRIED,
    examples=[
        document_example(
            "Refunds take 5 days. Gifts are final.",
            "Refunds take 5 days. Gifts are final.\n\nRefunds take 6 days.",
        )
    ],
)
def contradict_fact(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per sentence that states a fact or can be denied: elsewhere it stands in another version.

    The other version has another value for the sentence's first fact, or denies what it says ("can" becomes
    "cannot"); sentences with conditions or other negations are left alone, and so is
    what a document says of itself ("Last updated"). The other version is a paragraph at the end of
    the document, or, for the last sentence, at the beginning.
    """
    for index, document in enumerate(config.context):
        first: dict[int, StatedFact] = {}
        for fact, sentence in stated_facts(document):
            first.setdefault(sentence.start, fact)
        sentences = parse(document.text).instructions
        for sentence in sentences:
            if is_metadata(document.text, sentence):
                continue
            other = _other_version(document.text, sentence, first.get(sentence.start))
            if other:
                yield _contradicting(config, index, sentences, sentence, other)


def _other_version(text: str, sentence: Instruction, fact: StatedFact | None) -> str:
    if fact is None:
        return _denied(text, sentence)
    (start, end), after = restated(text, fact, Deviation.NEAR)
    return f"{text[sentence.start : start]}{after}{text[end : sentence.end]}"


def _denied(text: str, sentence: Instruction) -> str:
    """Return the sentence with its main verb denied or affirmed; empty where that cannot be done safely."""
    said = sentence.text
    verb = _VERB.search(said)
    if verb is None or parse(text).protects(sentence.start + verb.start(), sentence.start + verb.end()):
        return ""
    if (
        not reads_as_english(said)
        or _TRICKY.search(f"{said[: verb.start()]} {said[verb.end() :]}")
        or _DEPENDENT.search(said[: verb.start()])
        or (_STATES.match(verb.group()) and not _GRANTS.match(said, verb.end()))
    ):
        return ""
    found = verb.group()
    other = _AFFIRMED.get(found) or _DENIED[found]
    return f"{said[: verb.start()]}{other}{said[verb.end() :]}"


def _contradicting(
    config: AgentConfig, index: int, sentences: Sequence[Instruction], sentence: Instruction, other: str
) -> Candidate:
    document = config.context[index]
    is_last = sentence is sentences[-1]
    at = 0 if is_last else len(document.text.rstrip())
    gap = line_break(document.text) * 2
    added = f"{other}{gap}" if is_last else f"{gap}{other}"
    edit = text_edit(config, index, at, at, added)
    about = About(pointer=edit.pointer, span=(sentence.start, sentence.end))
    phrase = f"contradict {quoted(sentence.text)} in"
    return of_document(document, (edit,), phrase, sentence.text, about=(about,))
