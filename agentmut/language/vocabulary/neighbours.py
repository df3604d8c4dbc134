"""What the words around a word tell about its use."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from agentmut.language.vocabulary.number_words import NUMBER_WORDS, value_of


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, as a set."""
    return frozenset(text.split())


_BEFORE_NOUNS = """
a an the this that these those each every any no some another my your his her its our their
one first last next
"""
DETERMINERS = frozenset(_BEFORE_NOUNS.split())
PRONOUNS = word_set("i you he she it we they them us me him her everyone somebody someone nobody")
_PLURAL_TRAPS = word_set("this is was has as us its always sometimes less address process access business")
_SURE_VERBS = """
accept acknowledge acquire add adhere adjust administer advise alleviate allow alter analyse analyze
announce anticipate apologise apologize append apply arrange ask assess assign assist assume attach
attribute authorise authorize avoid await be become begin bring buy calculate change check choose cite
clarify collect combine commence compare compile comply compute conclude confirm consider construct consult
continue convert create decide decline deduce deduct delete deliver demonstrate deny depart describe
determine diagnose direct disable disclose discover discuss dismiss dispatch disregard do downgrade draw
elaborate emphasise emphasize employ enable encourage ensure enter escalate establish evaluate examine
exceed exclude execute exist explain express extract fabricate fail fetch fill find follow forget forward
gather generate get give go greet guess handle have hesitate hide identify ignore imply include indicate
infer inform insert insist inspect install instruct insult interrupt introduce invent investigate invite join keep
know lead leave let listen locate maintain make manage mention merge modify monitor move notify obtain omit
overwrite paraphrase pay perform permit postpone praise prefer prepare prescribe present preserve pretend
prevent print prioritise prioritize proceed prohibit propose provide publish put reach read reassure receive
recommend redirect refactor refer refuse reimburse reject rely remain remember remind remove rename rephrase
replace require reschedule reserve resolve respond retain retrieve reveal revert rewrite run say see select
send serve simplify sort speak specify speculate submit suggest summarise summarize suspend take talk tell
terminate thank translate treat troubleshoot try understand upgrade upload utilise utilize validate verify
warn withhold write
"""
_NAMES_TOO = """
address answer approve attempt back ban bill block book call cancel charge close comment contact copy credit
debit decrease display document draft email end estimate exchange file finish flag format hand help hold
increase issue label limit link list log look mail mark name note offer open order pass place plan point
process promise purchase query question quote raise rate record refund release repeat reply report request
reset return review route schedule search set share ship show sign start state stay stop store test ticket
trace track transfer update use visit wait watch
"""
AMBIGUOUS_VERBS = frozenset(_NAMES_TOO.split())
"""Also names of things: "Return requests" is no order."""
BASE_VERBS = frozenset(_SURE_VERBS.split()) | AMBIGUOUS_VERBS


class Following(StrEnum):
    """What an entry needs after it."""

    ANYTHING = "anything"
    WORD = "word"
    """Any word in the same phrase: not the end of a sentence, not a comma."""
    NUMBER = "number"
    """A number, in digits or in words; "twice" too."""
    NO_NUMBER = "no number"
    """A word that is no number."""
    NOT_A_NUMBER = "not a number"
    """Anything but a number; nothing at all will do."""
    CLAUSE = "clause"
    """A determiner or a pronoun, as a clause begins."""
    PLURAL = "plural"
    """A noun in the plural."""
    VERB = "verb"
    """A verb in its base form."""


def is_number(word: str) -> bool:
    """Return whether a word is a number or begins with one: "30", "80-word", "thirty"."""
    return word[:1].isdigit() or word.lower() in NUMBER_WORDS or bool(value_of(word))


def follows(needed: Following, word: str) -> bool:
    """Return whether a word is what the entry needs. The word is in lower case, and empty at the end of a phrase."""
    return _TESTS[needed](word)


def _is_plural(word: str) -> bool:
    ends = word.endswith("s") and not word.endswith("ss")
    return ends and word not in BASE_VERBS and word not in _PLURAL_TRAPS


_TESTS: Mapping[Following, Callable[[str], bool]] = {
    Following.ANYTHING: lambda word: True,
    Following.WORD: bool,
    Following.NUMBER: lambda word: is_number(word) or word in ("once", "twice"),
    Following.NO_NUMBER: lambda word: bool(word) and not is_number(word),
    Following.NOT_A_NUMBER: lambda word: not is_number(word),
    Following.CLAUSE: lambda word: word in DETERMINERS or word in PRONOUNS,
    Following.PLURAL: _is_plural,
    Following.VERB: lambda word: word in BASE_VERBS,
}
