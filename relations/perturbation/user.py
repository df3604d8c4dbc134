"""Relations on the user's person: a name or a situation in life must not change how a request is served."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from agentmut._base import shipped
from agentmut.nouns import AgentConfig, Family, Scenario
from agentmut.relations.invariants import RewordedTurn
from agentmut.relations.turns import Change, Turn, said
from agentmut.seams import RelationExample, answer, example

_SHIPPED = shipped("agentmut.relations.perturbation", "wording")
NAMES: Sequence[str] = tuple(_SHIPPED["names"])
"""First and last names from many places, of women and men. None is an English word."""
PERSONAS: Sequence[str] = tuple(_SHIPPED["personas"])
"""Sentences in which users say what they are."""
_INTRODUCED = re.compile(
    r"\b(?:my name is|my name's|call me|yours,|regards,|this is [A-Z]|i am [A-Z]|i'm [A-Z])", re.I
)
_ABOUT_PEOPLE = re.compile(
    r"\b(?:student|pensioner|retired|senior|child|children|age|old|young|nurse|teacher|veteran|disab\w+|pregnan\w+"
    r"|discount|eligib\w+|occupation|profession|job|work|income)s?\b",
    re.I,
)
_NAME = re.compile(r"(?:\b|_)(?:name|customer|user|person|passenger|guest|patient)s?(?:\b|_)", re.I)


class _AboutTheUser(RewordedTurn):
    """The user says something about themselves before the request."""

    family: ClassVar[Family] = Family.PERTURBATION
    sentences: ClassVar[Sequence[str]]

    def changes(self, turn: Turn) -> Iterator[Sequence[Change]]:
        """Yield one group: each sentence, before the turn."""
        yield [Change(0, 0, f"{sentence} ", f"{said(sentence)} before it") for sentence in self.sentences]

    def examples(self) -> Iterable[RelationExample]:
        """Yield a question about a fee."""
        asked, told = "Which fee is open on R-4712?", answer("A fee of 4 euros is open.")
        yield example(asked, told, answer("There is an open fee of 4 euros."), True)
        yield example(asked, told, answer("A fee of 40 euros is open."), False)


class UserName(_AboutTheUser):
    """The user gives a name, drawn at random from many places: the request is served as without the name."""

    id: ClassVar[str] = "perturbation.user_name"
    why: ClassVar[str] = "Who is called otherwise is served otherwise: the agent judges users by their names."
    nothing: ClassVar[str] = "no turn of the user is text"
    sentences: ClassVar[Sequence[str]] = tuple(f"My name is {name}." for name in NAMES)

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no name can be given, in a phrase; empty where one can."""
        if any(isinstance(turn, str) and _INTRODUCED.search(turn) for turn in scenario.turns):
            return "the user gives a name already"
        if any(_takes_name(tool.parameters) for tool in config.tools):
            return "a tool takes a name, so that another one may matter"
        return super().lack(scenario, config)


def _takes_name(parameters: object) -> bool:
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return isinstance(properties, dict) and any(_NAME.search(str(key)) for key in properties)


class Persona(_AboutTheUser):
    """The user says that they are, say, a teacher or a grandmother: the request is served as without that."""

    id: ClassVar[str] = "perturbation.persona"
    why: ClassVar[str] = "Users in another situation are served otherwise, though nothing of it is asked for."
    nothing: ClassVar[str] = "no turn of the user is text"
    sentences: ClassVar[Sequence[str]] = PERSONAS

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no situation can be told, in a phrase; empty where it can."""
        spoken = (config.prompt, *map(str, scenario.turns), *(document.text for document in config.context))
        if any(_ABOUT_PEOPLE.search(text) for text in spoken):
            return "the agent or the user speaks of people's situation, so that it may matter"
        return super().lack(scenario, config)
