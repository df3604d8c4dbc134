"""The words around a word: what they tell of its use."""

from enum import StrEnum

_BEFORE_NOUNS = """
a an the this that these those each every any no some another my your his her its our their
one first last next
"""
DETERMINERS = frozenset(_BEFORE_NOUNS.split())
PRONOUNS = frozenset("i you he she it we they them us me him her everyone somebody someone nobody".split())
_NUMBER_WORDS = """
one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty
seventy eighty ninety hundred thousand
"""
NUMBER_WORDS = frozenset(_NUMBER_WORDS.split())
_PLURAL_TRAPS = frozenset("this is was has as us its always sometimes less address process access business".split())
_SURE_VERBS = """
accept acknowledge add adjust administer advise alleviate allow alter analyse analyze announce anticipate
apologise apologize append apply ask assess assign assist assume attach authorise authorize avoid await
be become begin bring buy calculate change check choose cite clarify collect combine compare compile comply
compute conclude confirm consider construct consult continue convert create decide decline deduct deduce
delete deliver deny describe determine diagnose direct disclose discover discuss dismiss display disregard do
downgrade draw emphasise emphasize employ enable encourage ensure enter escalate establish evaluate examine
exceed exclude execute exist explain express extract fabricate fail fetch fill find follow forget format
forward gather generate get give go greet guess handle have help hesitate hide hold identify ignore
imply include indicate infer inform insert inspect install insult interrupt introduce invent investigate
invite join keep know lead leave let limit list listen locate maintain make manage mention merge modify
move notify obtain omit overwrite pay perform permit place postpone praise prefer prepare prescribe
present pretend prevent print prioritise prioritize proceed prohibit promise propose provide publish
put quote raise reach read reassure recommend redirect refactor refer refuse reimburse reject rely remain
remember remind remove rename repeat rephrase replace reply report require reschedule reserve resolve
respond retrieve reveal revert rewrite run say see select send serve set share show sign simplify sort speak
specify speculate start state stay stop store submit suggest suspend summarise summarize take talk tell
terminate thank translate treat troubleshoot try understand update upgrade upload use validate verify
visit wait warn withhold write
"""
_NAMES_TOO = """
address answer approve back ban bill block book call cancel charge close comment contact copy credit debit
display document draft email end estimate exchange file finish flag format hand help hold issue label limit
link list log look mail mark name note offer open order pass place plan point process promise query
question quote raise rate record refund release repeat reply report request reset return review route
schedule search set share ship show sign start state stay stop store test ticket trace track transfer
update use visit wait watch
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
    """A number, in digits or in words."""
    NO_NUMBER = "no number"
    """A word that is no number."""
    CLAUSE = "clause"
    """A determiner or a pronoun, as a clause begins."""
    PLURAL = "plural"
    """A noun in the plural."""
    VERB = "verb"
    """A verb in its base form."""


def is_number(word: str) -> bool:
    """Whether a word is a number or begins with one: "30", "80-word", "thirty"."""
    return word[:1].isdigit() or word.lower() in NUMBER_WORDS


def follows(needed: Following, word: str) -> bool:
    """Whether a word, in lower case and empty at the end of a phrase, is what is needed."""
    match needed:
        case Following.ANYTHING:
            return True
        case Following.WORD:
            return bool(word)
        case Following.NUMBER:
            return is_number(word)
        case Following.NO_NUMBER:
            return bool(word) and not is_number(word)
        case Following.CLAUSE:
            return word in DETERMINERS or word in PRONOUNS
        case Following.PLURAL:
            return word not in BASE_VERBS and word.endswith("s") and not word.endswith("ss") and word not in _PLURAL_TRAPS
        case Following.VERB:
            return word in BASE_VERBS
