"""Language: one parsed prompt document that operators, relations, coverage and simulator all read."""

from agentmut._base.text_position import Position, position
from agentmut.text.document import Instruction, PromptDocument, parse
from agentmut.text.emphasis import Emphasis
from agentmut.text.examples import FewShot
from agentmut.text.lexicon import BINDING, FIELDS, Lexicon, Relation, load_lexicon
from agentmut.text.modality import Modality, modality
from agentmut.text.orders import order_at
from agentmut.text.sections import Section
from agentmut.text.spans import Span
from agentmut.text.synonyms import Replacement, is_of_a_name, synonyms
from agentmut.text.uses import Use, in_condition, reads_as_english, uses
from agentmut.text.words import Word, stem, stems, words

__all__ = [
    "BINDING",
    "FIELDS",
    "Emphasis",
    "FewShot",
    "Instruction",
    "Lexicon",
    "Modality",
    "Position",
    "PromptDocument",
    "Relation",
    "Replacement",
    "Section",
    "Span",
    "Use",
    "Word",
    "in_condition",
    "is_of_a_name",
    "load_lexicon",
    "modality",
    "order_at",
    "parse",
    "position",
    "reads_as_english",
    "stem",
    "stems",
    "synonyms",
    "uses",
    "words",
]  # fmt: skip
