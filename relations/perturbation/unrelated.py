"""Sentences and documents about nothing that an agent is asked for."""

from collections.abc import Iterable
from types import MappingProxyType

from agentmut.language import stems
from agentmut.nouns import AgentConfig, Document, Scenario

REMARKS = (
    "My neighbour is painting his fence green.",
    "Our cat has just fallen asleep on the sofa.",
    "I am listening to an old jazz record.",
    "Somebody in the street is playing the violin.",
    "The tomatoes on my balcony are doing very well.",
    "My sister is learning to bake bread.",
    "There is a rainbow over the hills.",
    "The neighbour's dog has been barking all morning.",
    "I have just watered the roses.",
    "The coffee here is surprisingly good.",
    "A choir is rehearsing next door.",
    "My uncle keeps bees.",
    "The leaves are falling early around here.",
    "We watched an old film about penguins last night.",
)
"""What a user may mention in passing. Without figures, names, questions and wishes."""
DOCUMENTS = (
    Document(
        name="choir-notes",
        text="The altos come in after the tenors. The slow piece is sung without a piano. Breathe quietly.",
    ),
    Document(
        name="bee-keeping",
        text="Bees leave the hive on warm mornings. A calm colony hums softly. Smoke is used sparingly.",
    ),
    Document(
        name="bread-baking",
        text="Knead the dough until it is smooth. Let it rise under a damp cloth. Bake it until the crust is brown.",
    ),
    Document(
        name="penguins",
        text="Penguins huddle together against the wind. The parents take turns at sea. Chicks have grey feathers.",
    ),
    Document(
        name="jazz-records",
        text="Old records crackle. The trumpet carries the tune while the bass walks. Wipe the needle gently.",
    ),
)
TASKS = MappingProxyType({
    "a further question about colours": "Besides, name a colour that goes well with grey.",
    "a further question about words": "Besides, give me another word for quiet.",
    "a further question about birds": "Besides, name a bird that cannot fly.",
    "a further question about spelling": "Besides, tell me a word that rhymes with tree.",
    "a further question about music": "Besides, name an instrument with strings.",
})  # fmt: skip
"""Small tasks that ask for more in the same answer."""
CONDITIONS = MappingProxyType({
    "long words forbidden": "Use no word of more than twelve letters in your answer.",
    "exclamation marks forbidden": "Do not use exclamation marks or brackets in your answer.",
    "every sentence another beginning": "Begin every sentence of your answer with a different letter.",
    "the letter z forbidden": "Do not use the letter z anywhere in your answer.",
})  # fmt: skip
"""Conditions on an answer that say nothing of what it is about."""


def unrelated_remarks(scenario: Scenario, config: AgentConfig) -> tuple[str, ...]:
    """The remarks that share no content word with the agent and what it is asked."""
    domain = stems(_domain(scenario, config))
    return tuple(remark for remark in REMARKS if not stems(remark) & domain)


def unrelated_documents(scenario: Scenario, config: AgentConfig) -> tuple[Document, ...]:
    """The documents that no agent's topic touches: their names share no word with it."""
    domain = stems(_domain(scenario, config))
    taken = {document.name for document in config.context}
    return tuple(d for d in DOCUMENTS if d.name not in taken and not stems(d.name) & domain)


def _domain(scenario: Scenario, config: AgentConfig) -> str:
    tools: Iterable[str] = (f"{tool.name} {tool.description}" for tool in config.tools)
    documents = (f"{document.name} {document.text}" for document in (*config.context, *scenario.context))
    return "\n".join((config.prompt, *map(str, scenario.turns), *tools, *documents))
