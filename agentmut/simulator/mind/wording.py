"""The many wordings of a rule, reduced to a few: "if X, you must tell them to Y"."""

import re
from functools import lru_cache

from agentmut.language import Modality, modality
from agentmut.simulator.mind.verbs import orders, surely_orders

_LABELS = """
important note notes nb warning caution attention reminder remember rule rules policy style tone voice format
formatting language length output privacy security safety confidentiality compliance accuracy honesty scope
role goal general exception exceptions priority identity verification authentication key tip step
"""
_LABEL = re.compile(
    rf"^(?:{'|'.join(_LABELS.split())})(?:\s+\d+)?\s*:\s+|^(?:rule|step)\s+\d+\s*[:.–-]\s+", re.I
)
_LEAD = re.compile(r"^(?P<lead>[^:;\"“«]{2,120}?)(?P<mark>:|\s*(?:->|=>|→)|\s+[–—-])\s+(?P<rest>\S.*)$", re.S)
_MOST_LEAD_WORDS = 14
_IF_WORDS = re.compile(r"^(?:if|when|whenever|unless|as soon as|once|in case|where|before|after)\b", re.I)
_OCCASION = re.compile(
    r"^(?:in (?:the )?(?:case|event)s? of|for|on|upon|with|regarding|concerning|about|as for|as to"
    r"|(?:any |all )?(?:requests?|questions?|enquiries|inquiries|queries|complaints?|calls?|messages?)"
    r"\s+(?:for|about|on|regarding|concerning|to))\s+(?!(?:each|every|all|any)\b)",
    re.I,
)
_LEADING_OCCASION = re.compile(
    r"^(?:in (?:the )?(?:case|event)s? of|on|upon|with"
    r"|regarding|concerning|as for|given|(?=in doubt)|(?:every|each|any)"
    r" ?time)\s*\b(?!(?:each|every|all|any|average|top|behalf|request)\b)(?P<when>[^,]+),\s+(?P<rest>\S.*)$",
    re.I | re.S,
)
_SHOULD = re.compile(r"^should\s++(?P<when>[^,]++),\s++(?P<rest>\S.*)$", re.I | re.S)
_LATE_OCCASION = re.compile(
    r"(?:,|(?<!\s))\s++(?:in (?:the )?(?:case|event)s? of|(?:every|each|any) ?time|provided(?: that)?|as long as)\s+"
    r"(?=[^\"”]*$)",
    re.I,
)
_WHO = (
    r"(?P<who>(?:any|every|some)(?:one|body)(?: else)?|those|people|(?:(?:an?|any|every|each|all|the)\s+)?"
    r"[\w'-]+(?:\s+[\w'-]+){0,3}?)"
)
_HAVING = (
    r"(?P<having>(?:who|with|without|asking|requesting|wanting|wishing|looking|calling|reporting|mentioning"
    r"|having|needing|in|from|on|under|over)\b.+?)"
)
_MODAL = (
    r"(?P<modal>must(?: always)?|should(?: always)?|may|can|have to|has to|need to|needs to|shall|ought to"
    r"|(?:are|is) to)(?P<no>\s+(?:not|never))?"
)
_PASSIVE = {
    "told": "tell", "asked": "ask", "informed": "inform", "reminded": "remind", "warned": "warn",
    "advised": "advise", "notified": "inform", "given": "give", "offered": "offer", "referred": "refer",
    "thanked": "thank", "directed": "refer", "invited": "tell", "instructed": "tell", "urged": "tell",
    "encouraged": "tell", "sent": "send",
}  # fmt: skip
_THEY_ARE = re.compile(
    rf"^{_WHO}(?:\s+{_HAVING})?,?\s+{_MODAL}\s+(?:also\s+|first\s+)?be\s+"
    rf"(?P<verb>{'|'.join(_PASSIVE)})\b(?!(?<=given|.sent)\s*(?:$|(?:when|whenever|if)\b))(?P<rest>.*)$",
    re.I | re.S,
)
_THEY_DO = re.compile(
    rf"^(?!(?:you|we|i|it|this|they|there)\b){_WHO}(?:\s+{_HAVING})?,?\s+{_MODAL}\s+(?P<rest>(?:speak|talk|contact"
    r"|call|bring|provide|pay|wait|sign|show|fill|register|ask|apply|submit|complete|visit|consult|see|send|come"
    r"|arrive|return|choose|write|present|use|go|turn|report|confirm)\b.*)$",
    re.I | re.S,
)
_ANYONE_DOES = re.compile(
    r"^(?P<who>(?:any|every)(?:one|body)(?: else)?|those|people)\b"
    rf"(?:\s+{_HAVING})?,?\s+{_MODAL}\s+(?P<rest>(?!be\b)\S.*)$",
    re.I | re.S,
)
_TO_SAY = r"given|sent|mentioned|stated|named|pointed out|explained|quoted|said|announced|noted"
_IS_SAID = re.compile(
    rf"^(?P<what>[^,;:]+?)\s+{_MODAL}\s+(?:also\s+)?be\s+(?:{_TO_SAY})\b(?P<rest>.*)$", re.I | re.S
)
_TELL_SOME = re.compile(
    r"^(?P<modal>(?:(?:please|always|you (?:must|should|may|can)|also)\s+)*)"
    r"(?P<verb>tell|inform|remind|warn|advise|ask)\s+(?!(?:the\s+)?[\w-]+\s+(?:that|about|of|to|for|whether)\b)"
    r"(?:the\s+|any\s+|all\s+)?(?P<who>(?:[\w-]+\s+){1,3}?[\w-]+s?)"
    r"\s+(?P<rest>(?:that|about|to|whether)\b.+)$",
    re.I | re.S,
)
_THIS = r"(?:\s+(?:them|(?:the|every|all)\s+\w+))?\s+(?:this|that|so|it)\b(?!\s+(?:the|a|an|you|they|it|is|are)\b)"
_MENTION = rf"(?:mention|say|state|tell|explain|point out|note|point){_THIS}(?:\s+(?!when|if|unless|before|after)\w+)?"
_MENTIONED = re.compile(
    rf"^(?P<fact>.+?)\s*(?:[,;.]|\s[–—-])\s+(?:(?:so|and|please|always|you (?:must|should|may))\s+)*"
    rf"(?P<verb>{_MENTION})(?P<rest>(?:\s+(?:when|whenever|if|unless)\b.*)?)$",
    re.I | re.S,
)
_POINTING = re.compile(rf"^(?:(?:please|always|you (?:must|should|may))\s+)*{_MENTION}", re.I)
_ONLY_WITH = re.compile(
    r"^(?P<what>(?!you\b|we\b|if\b|when)[^,;:]+?)\s+(?:is|are|(?:can|may|will|must)(?: only)? be)\s+(?:only\s+)?"
    r"(?P<verb>\w+)\s+only\s+(?:with|against|upon)\s+(?P<needed>[^,;:]+)(?P<rest>.*)$",
    re.I | re.S,
)
_ASK_THAT = re.compile(
    r"^,?(?:so|and|please|;|\s)*+ask\s+(?:\w+\s+)?for\s+(?:that|this|it)\b(?:\s+first)?", re.I
)
_NOTHING = re.compile(r"\b(?P<verb>[a-z]+)\s+nothing\b(?!\s+(?:but|else than))", re.I)
_LEANING = re.compile(
    r"\b(?:then|also|in (?:that|this|such|these|those) (?:a )?cases?|if so|it|its|them|they|their|him|her|this|that"
    r"|these|those|anything|nothing|something|instead|there)\b",
    re.I,
)
_IN_THAT_CASE = re.compile(r"^(?:in (?:that|this|such|these|those) (?:a )?cases?|if so|then),?\s+", re.I)
_OTHERWISE = re.compile(r"^(?:otherwise|if not|or else),?\s+", re.I)
_FREE = re.compile(
    r"\b(?:always|every|each|in (?:all|any) cases?|under (?:all|any|no) circumstances|at all times)\b", re.I
)


@lru_cache(maxsize=4_096)
def without_lead(words: str) -> str:
    """Return a rule whose leading matter ("Broken lamps: do Y") is a condition; labels are dropped.

    >>> without_lead("Requests for lamps or oil: say when they come")
    'if lamps or oil, say when they come'
    >>> without_lead("Style: be brief")
    'be brief'
    """
    words = _LABEL.sub("", words)
    match = _LEAD.match(words)
    if match is None:
        return words
    lead, rest = match["lead"].strip(), match["rest"]
    if not orders(rest) and match["mark"] != ":" and not _is_arrow(match["mark"]):
        return words
    if _IF_WORDS.match(lead):
        return f"{lead.replace(', ', ' or ')}, {rest}" if orders(rest) else words
    if not names_a_matter(lead):
        return words
    clause = _active(rest)  # "Lamps: anyone who breaks one must be clause": the matter is but a heading
    return clause if _IF_WORDS.match(clause) else f"if {matter(lead)}, {clause}"


@lru_cache(maxsize=4_096)
def names_a_matter(lead: str) -> bool:
    """Return whether words name what a rule is about rather than ordering something."""
    lead = lead.strip(" ?:")
    few = 0 < len(lead.split()) <= _MOST_LEAD_WORDS
    return few and not surely_orders(lead) and modality(lead) is Modality.IMPERATIVE


def matter(lead: str) -> str:
    """Return the matter that a lead names: "Requests for A, B and C" is about "A or B or C"."""
    bare = _OCCASION.sub("", lead.strip(" ?:"))
    return re.sub(r"(?:,|(?<!\s))\s++(?:and|or)\s+|,\s+", " or ", bare)


@lru_cache(maxsize=4_096)
def plain(words: str) -> str:
    """Return one part of a rule in the plainest wording.

    >>> plain("People with a lamp must be told to dim it")
    'if People with a lamp, you must tell them to dim it'
    >>> plain("In case of fire, promise nothing")
    'if fire, do not promise anything'
    """
    words = _NOTHING.sub(r"do not \g<verb> anything", words)
    for pattern in (_LEADING_OCCASION, _SHOULD):
        if (match := pattern.match(words)) is not None and orders(match["rest"]):
            words = f"if {match['when']}, {match['rest']}"
    words = _LATE_OCCASION.sub(" if ", words)
    return words if _IF_WORDS.match(words) else _active(words)


def mentioned(words: str) -> str:
    """Return a statement with "mention this when ..." behind it as what is to be mentioned.

    >>> mentioned("Oil costs 5 pounds, mention this when they ask for oil")
    'mention that Oil costs 5 pounds when they ask for oil'
    """
    match = _MENTIONED.match(words)
    return f"mention that {match['fact']}{match['rest']}" if match else words


def permitted(words: str) -> str:
    """Return what is done only with something else as an order to ask for that first.

    >>> permitted("Lamps are lit only with a permit, so ask for that first")
    'if Lamps, you must ask for a permit; ask for a permit before lit Lamps'
    """
    if (match := _ONLY_WITH.match(words)) is None:
        return words
    what, needed, rest = match["what"], match["needed"], _ASK_THAT.sub("", match["rest"])
    return f"if {what}, you must ask for {needed}; ask for {needed} before {match['verb']} {what}{rest}"


def third_person(words: str) -> bool:
    """Return whether a part of a rule is about other people's duties."""
    return (_THEY_DO.match(words) or _ANYONE_DOES.match(words)) is not None


def _active(words: str) -> str:
    if (match := _THEY_ARE.match(words)) is not None:
        verb = _PASSIVE[match["verb"].lower()]
        return f"{_whom(match)}{_ought(match)} {verb} them{match['rest']}"
    if (match := _IS_SAID.match(words)) is not None and not _negative(match):
        what = "" if match["what"].lower() == "it" else f" {match['what'][0].lower()}{match['what'][1:]}"
        return f"{_ought(match)} mention{what}{match['rest']}"
    if (match := _THEY_DO.match(words) or _ANYONE_DOES.match(words)) is not None and not _negative(match):
        return f"{_whom(match)}{_ought(match)} tell them to {match['rest']}"
    if (match := _TELL_SOME.match(words)) is not None:
        return f"if {match['who']}, {match['modal']}{match['verb']} them {match['rest']}"
    return words


def _whom(match: re.Match[str]) -> str:
    """Return the condition in a subject: "New guests", "anyone who calls"; a plain "Guests" has none."""
    who, having = match["who"], match["having"]
    if having is None and len(re.sub(r"^(?:an?|any|every|each|all|the)\s+", "", who, flags=re.I).split()) < 2:
        return ""
    return f"if {who}{' ' + having.replace(', ', ' or ') if having else ''}, "


def _ought(match: re.Match[str]) -> str:
    modal = match["modal"].lower().replace("has", "have").replace("needs", "need")
    modal = "must" if modal in ("are to", "is to") else modal
    return f"you {modal}{' not' if _negative(match) else ''}"


def _negative(match: re.Match[str]) -> bool:
    return bool(match["no"])


def _is_arrow(mark: str) -> bool:
    return mark.strip() in ("->", "=>", "→")


def says_this(words: str) -> bool:
    """Return whether a sentence asks to say the one before it: "Mention this when ..."."""
    return _POINTING.match(words) is not None


def leans(words: str, in_item: bool) -> bool:
    """Return whether a sentence holds only under the condition of the sentence before it.

    In an item of a list all do that have no condition of their own and do not say "always".

    >>> leans("Don't light anything.", False), leans("Always be kind.", True), leans("Be kind.", False)
    (True, False, False)
    """
    if _IN_THAT_CASE.match(words) or _OTHERWISE.match(words):
        return True
    if _IF_WORDS.match(words) or _FREE.search(words):
        return False
    return in_item or (not third_person(words) and _LEANING.search(words) is not None)


def is_otherwise(words: str) -> bool:
    """Return whether a sentence holds if the condition of the sentence before it does not."""
    return _OTHERWISE.match(words) is not None


def without_link(words: str) -> str:
    """Return a sentence without "in that case", "otherwise"."""
    return _OTHERWISE.sub("", _IN_THAT_CASE.sub("", words))
