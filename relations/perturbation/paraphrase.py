"""The user puts the same request another way."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from agentmut.language import BASE_VERBS, Span, order_at, paraphrases, stems, word_set
from agentmut.nouns import Family
from agentmut.relations.invariants import RewordedTurn
from agentmut.relations.turns import Change, Turn, lowered, names_a_thing, raised, said
from agentmut.seams import RelationExample, answer, example

_ASKED = ("I have a question: {}", "Quick question: {}", "I was wondering: {}", "Can you help me with this? {}",
          "My question is this: {}", "Here is what I would like to know: {}")  # fmt: skip
_ORDERED = ("I'd like you to {}", "I would like to ask you to {}", "Please {}", "Kindly {}",
            "I am writing to ask you to {}", "What I need from you: please {}")  # fmt: skip
_ASKED_TO = (
    "Could you please {}?",
    "Would you please {}?",
    "Could you {}?",
    "Would you be so kind as to {}?",
)
_GREETINGS = ("Hello! ", "Hi there! ", "Greetings! ", "Hello there! ")
_THANKS = (" Thank you!", " Thanks in advance.", " Thanks a lot!", " Thank you very much.")
_GREETED = re.compile(r"\s*(?:hi|hello|hey|dear|good (?:morning|day|evening|afternoon)|greetings)\b", re.I)
_ANSWERS = re.compile(r"\s*(?:yes|no|sure|great|okay|ok|alright|actually|thanks|thank you|hmm)\b", re.I)
_THANKED = re.compile(r"\b(?:thanks|thank you|cheers)\b", re.I)
_ASKS = re.compile(r"\?|\bplease\b|\b(?:I|we) (?:would like|want|need)\b", re.I)
_PLEASE = re.compile(r"please,? +", re.I)
_PLEASE_LAST = re.compile(r",? please$", re.I)
_REQUESTS = BASE_VERBS - word_set(
    "thank have get let know forget remember be see hold wait feel keep excuse mind greet"
)
_VERB = re.compile(r"(?P<verb>[A-Za-z]+)(?= )")
_LATER_CLAUSE = re.compile(r"[,;:()]|\b(?:and|but|because|so|or|if|when|since)\b", re.I)
_REQUEST = re.compile(r"\b(?:can|could|would|will) (?:you|we|I)\b|\bplease\b", re.I)
_CAN_YOU = re.compile(
    r"(?:can|could|would|will) you (?:please |kindly )?"
    r"(?P<rest>(?:tell|show|give|explain to|send) (?:me|us)\b[^?]*)\?$",
    re.I,
)
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_OWN_ADDRESS = re.compile(
    rf"\b(?P<said>(?:I am|I['’]m|my e-?mail(?: address)? is|my address is))(?= {_EMAIL}(?![\w@-]))", re.I
)
_ADDRESSES = ("I am", "my email is", "my email address is")
_SHORT = {"I am": "I'm", "I have": "I've", "I would": "I'd", "I will": "I'll", "it is": "it's", "what is": "what's",
          "where is": "where's", "you will": "you'll", "we are": "we're", "that is": "that's"}  # fmt: skip
_FORMS = _SHORT | {short: long for long, short in _SHORT.items()}
_FORM = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(_FORMS, key=len, reverse=True)))})(?= )", re.I)
_AFTER_HAVE = re.compile(r" (?:\w+ed|lost|found|bought|been|got|sent|made|had|not|already|just)\b")
_AFTER_I_D = re.compile(r" (?:like|love|prefer)\b")
_AFTER_S = re.compile(r" (?:my|the|a|an|your|our|order|not|too|about|still|in|on)\b", re.I)


class Paraphrase(RewordedTurn):
    """A turn is put another way: as a polite request, a question with a lead, contracted or spelled out."""

    id: ClassVar[str] = "perturbation.paraphrase"
    family: ClassVar[Family] = Family.PERTURBATION
    why: ClassVar[str] = "The agent hangs on how a request is put, not on what is asked for."
    most: ClassVar[int] = 2
    nothing: ClassVar[str] = "no turn has a sentence with a sure paraphrase"

    def changes(self, turn: Turn) -> Iterable[Sequence[Change]]:
        """Return one group for whole sentences, one for parts of them, one for courtesies."""
        sentences = [_Sentence(turn, span) for span in turn.sentences]
        return [tuple(change for rule in rules for change in rule(turn, sentences)) for rules in _GROUPS]

    def examples(self) -> Iterable[RelationExample]:
        """Yield a cancellation, politely."""
        request = "Please cancel order A-3100."
        before = answer("A-3100 is cancelled.", ("cancel", {"order": "A-3100"}))
        yield example(request, before, answer("I cancelled A-3100.", ("cancel", {"order": "A-3100"})), True)
        yield example(request, before, answer("Which order do you mean?"), False)


class _Sentence(NamedTuple):
    turn: Turn
    span: Span

    @property
    def text(self) -> str:
        """Return the text of the sentence."""
        return self.turn.text[self.span.start : self.span.end]

    def put(self, new: str, part: str) -> Change:
        """Return the change that puts a new text in the place of the sentence."""
        return Change(*self.span, new, part)

    @property
    def is_open(self) -> bool:
        """Return whether it begins and ends outside what is quoted."""
        inner = self.turn.document.protects
        return not inner(self.span.start, self.span.start + 1) and not inner(self.span.end - 1, self.span.end)


_Rule = Callable[[Turn, Sequence[_Sentence]], Iterator[Change]]


def _questions(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    asked = [one for one in sentences if one.text.endswith("?") and one.is_open]
    # "My question is: could you cancel it?" may ask whether, and no longer for it.
    if len(asked) == 1 and not _GREETED.match(asked[0].text) and not _REQUEST.search(asked[0].text):
        for frame in _plain(_ASKED, turn):
            first = asked[0].text if frame.endswith("? {}") else lowered(asked[0].text)
            yield asked[0].put(frame.format(first), f"put as {said(frame.format('…'))}")


def _orders(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    for one in sentences:
        order, stop = _order(one.text) if one.is_open else ("", "")
        if not order:
            continue
        for frame in _plain(_ORDERED, turn):
            new = f"{frame.format(order)}{stop}"
            if new != one.text:
                yield one.put(new, f"put as {said(frame.format('…'))}")
        if not _LATER_CLAUSE.search(order):
            for frame in _plain(_ASKED_TO, turn):
                yield one.put(frame.format(order), f"put as {said(frame.format('…'))}")


def _plain(frames: Iterable[str], turn: Turn) -> Iterator[str]:
    """Keep the changes whose words name no tool or value: "a question" may mean `ask_question`."""
    return (frame for frame in frames if not stems(frame) & turn.vocabulary)


def _order(text: str) -> tuple[str, str]:
    """Return the order of a sentence in the base form, without "please" and stop, and its stop; empty for none."""
    stop = text[-1] if text[-1] in ".!" else ""
    body = text.removesuffix(stop) if stop else text
    polite = _PLEASE.match(body)
    bare = _PLEASE_LAST.sub("", body[polite.end() :] if polite else body)
    verb = _VERB.match(bare)
    if text.endswith("?") or not verb or verb["verb"].lower() not in _REQUESTS or "please" in bare.lower():
        return "", ""
    if body.rstrip()[-1:] in ":;," or "\n" in body or names_a_thing(bare):
        return "", ""
    # After "please" even "order" and "refund" are sure to be verbs.
    sure = polite is not None or order_at(bare) == 0
    return (bare[0].lower() + bare[1:], stop or ".") if sure else ("", "")


def _can_you(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    for one in sentences:
        match = _CAN_YOU.fullmatch(one.text) if one.is_open else None
        if match:
            yield one.put(f"Please {match['rest']}.", f"put as {said('Please …')}")


def _please(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    """Yield the sentence with "please" at its other end, if the sentence is a single clause."""
    for one in sentences:
        text = one.text
        body, stop = (text[:-1], text[-1]) if text[-1] in ".!?" else (text, "")
        first, last = _PLEASE.match(body), _PLEASE_LAST.search(body)
        if first and not last and not _LATER_CLAUSE.search(body[first.end() :]):
            yield one.put(f"{raised(body[first.end() :])}, please{stop}", f"{said('please')} at the end")
        elif last and not first and not _LATER_CLAUSE.search(body[: last.start()]) and stop != "?":
            yield one.put(f"Please, {lowered(body[: last.start()])}{stop}", f"{said('please')} at the start")


def _clauses(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    for one in sentences:
        for start, end, new in paraphrases(one.text):
            where = Span(one.span.start + start, one.span.start + end)
            if not turn.document.protects(*where):
                yield Change(*where, new, f"{said(new)} for {said(turn.text[where.start : where.end])}")


def _forms(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    for match in _FORM.finditer(turn.text):
        new = _FORMS[_key(match.group())]
        if turn.document.protects(*match.span()) or not _fits(match.group(), turn.text[match.end() :]):
            continue
        begins = match.group()[0].isupper()
        yield Change(*match.span(), raised(new) if begins else new, f"{said(new)} for {said(match.group())}")


def _key(form: str) -> str:
    return form if form in _FORMS else form[0].lower() + form[1:]


def _fits(form: str, after: str) -> bool:
    """Return whether a short form and a long one mean the same before these words."""
    plain = form.lower()
    if plain in ("i have", "i've"):
        return _AFTER_HAVE.match(after) is not None
    if plain == "i'd":
        return _AFTER_I_D.match(after) is not None
    return _AFTER_S.match(after) is not None if plain.endswith((" is", "'s")) else True


def _own_address(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    for match in _OWN_ADDRESS.finditer(turn.text):
        starts = any(span.start == match.start() for span in turn.sentences)
        for form in _ADDRESSES:
            if form.lower() != match["said"].lower():
                new = raised(form) if starts else form
                yield Change(*match.span(), new, f"{said(new)} for {said(match['said'])}")


def _courtesies(turn: Turn, sentences: Sequence[_Sentence]) -> Iterator[Change]:
    if turn.number == 0 and not _GREETED.match(turn.text) and not _ANSWERS.match(turn.text):
        yield from (Change(0, 0, greeting, f"{said(greeting.strip())} before it") for greeting in _GREETINGS)
    if _ASKS.search(turn.text) and not _THANKED.search(turn.text) and turn.text.rstrip()[-1:] in (*".!?",):
        end = len(turn.text.rstrip())
        yield from (Change(end, end, thanks, f"{said(thanks.strip())} after it") for thanks in _THANKS)


_GROUPS: tuple[tuple[_Rule, ...], ...] = (
    (_questions, _orders, _can_you, _please),
    (_clauses, _forms, _own_address),
    (_courtesies,),
)
