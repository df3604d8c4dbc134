"""Language: one parsed prompt document that operators, relations, coverage and simulator all read."""

from agentmut._base.text_position import Position, position
from agentmut.language.prompt.document import Instruction, PromptDocument, parse
from agentmut.language.prompt.emphasis import Emphasis
from agentmut.language.prompt.examples import FewShot
from agentmut.language.prompt.modality import Modality, modality
from agentmut.language.prompt.orders import order_at
from agentmut.language.prompt.sections import Section
from agentmut.language.prompt.spans import Span
from agentmut.language.vocabulary.lexicon import BINDING, FIELDS, Lexicon, Relation, load_lexicon
from agentmut.language.vocabulary.synonyms import Replacement, is_of_a_name, synonyms
from agentmut.language.vocabulary.uses import Use, in_condition, reads_as_english, uses
from agentmut.language.vocabulary.words import Word, stem, stems, words

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
