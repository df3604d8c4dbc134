"""Agents that tell facts again, as a table or a sentence, and lose or change some of them."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from agentmut.nouns.config import AgentConfig
from tests.quality.faulty_agents.harness import ask, chance

OFTEN = 0.7
"""How often a fault shows that is there now and then."""


def random_of(what: str) -> float:
    """Chance of the trial that does not hang on other chance of it."""
    return random.Random(f"{chance().random()} {what}").random()


_DAYS = {"May": 5, "March": 3, "June": 6}


_FACTS: Mapping[str, re.Pattern[str]] = {
    "tents": re.compile(r"\b(\d+|three) tents|\| tents \| (\d+)", re.IGNORECASE),
    "day": re.compile(r"\b(\d{1,2}) (May|March) 2026|\b(May|March) (\d{1,2}), 2026|\b2026-0([35])-0(\d)"),
    "amount": re.compile(r"(?:€|EUR )?(\d+\.\d\d)\b"),
    "order": re.compile(r"\bA-?(\d{4})\b", re.IGNORECASE),
}


_SAYS: Mapping[str, tuple[str, ...]] = {
    "tents": ("There are {0} tents.", "It is about {0} tents.", "Ada would like to have {0} tents."),
    "amount": (
        "The amount is {0} euros.",
        "It comes to €{0}.",
        "EUR {0} are to be paid.",
        "Amount: {0} euros.",
    ),
    "order": ("The order is A-{0}.", "Order number: A-{0}.", "All of it belongs to order A-{0}."),
}


def _facts(text: str) -> dict[str, str]:
    """What a note says, in the order in which notes are gone through."""
    found = {name: match for name, pattern in _FACTS.items() if (match := pattern.search(text))}
    facts = {name: next(filter(None, match.groups())) for name, match in found.items() if name != "day"}
    if "day" in found:
        facts["day"] = _day(found["day"])
    return {name: "3" if value == "three" else value for name, value in facts.items()}


def _day(match: re.Match[str]) -> str:
    day, month, other_month, other_day, number, of_number = match.groups()
    names = {str(value): name for name, value in _DAYS.items()}
    return f"{day or other_day or of_number} {month or other_month or names[number]}"


def _say(rng: random.Random, name: str, value: str) -> str:
    if name != "day":
        said = rng.choice(_SAYS[name]).format(value)
        return said.replace("3 tents", "three tents") if rng.random() < 0.4 else said
    day, month = value.split()
    written = rng.choice((f"{day} {month} 2026", f"{month} {day}, 2026", f"2026-0{_DAYS[month]}-0{day}"))
    return rng.choice(("The day is {0}.", "It was written on {0}.", "Date: {0}.")).format(written)


def _read(config: AgentConfig, text: str) -> dict[str, str]:
    """The facts of a text, and of what the model says of it."""
    given = f'<document name="note">\n{text}\n</document>'
    return _facts(f"{text}\n{ask(config, f'Repeat this: {text}', system=given)}")


Change = Callable[[dict[str, str]], dict[str, str]]


def _tidied(config: AgentConfig, input: Any, change: Change) -> str:
    text = str(input).partition(":")[2].strip()
    rng = chance()
    said = [_say(rng, name, value) for name, value in change(_read(config, text)).items()]
    rng.shuffle(said)
    return rng.choice((" ", "\n")).join(said)


def tidies(config: AgentConfig, input: Any) -> str:
    return _tidied(config, input, dict)


def loses_some_each_time(config: AgentConfig, input: Any) -> str:
    """Drops what stands first, as if it was a heading."""
    return _tidied(config, input, lambda facts: dict(list(facts.items())[1:]))


def turns_dates_over(config: AgentConfig, input: Any) -> str:
    """Takes the day for the month, and the other way round the next time."""
    turned = {"3 May": "5 March", "5 March": "3 May"}
    return _tidied(
        config, input, lambda facts: {name: turned.get(value, value) for name, value in facts.items()}
    )


def _there_and_back(config: AgentConfig, input: Any, change: Change) -> str:
    if "sentence:" in str(input).lower()[:40]:
        return tidies(config, input)
    facts = change(_read(config, str(input).partition(":")[2].strip()))
    rows = [f"| {name} | {_value(name, value)} |" for name, value in facts.items()]
    chance().shuffle(rows)
    return "\n".join(("| what | value |", "| --- | --- |", *rows))


def _value(name: str, value: str) -> str:
    return {"order": f"A-{value}", "day": f"{value} 2026"}.get(name, value)


def there_and_back(config: AgentConfig, input: Any) -> str:
    return _there_and_back(config, input, dict)


def loses_the_amount(config: AgentConfig, input: Any) -> str:
    """A cell is left empty, now and then."""

    def change(facts: dict[str, str]) -> dict[str, str]:
        return {
            name: value for name, value in facts.items() if name != "amount" or random_of("cell") >= OFTEN
        }

    return _there_and_back(config, input, change)


def rounds_the_amount(config: AgentConfig, input: Any) -> str:
    """A table has no room for cents."""

    def change(facts: dict[str, str]) -> dict[str, str]:
        return {name: re.sub(r"\.\d\d", ".00", value) for name, value in facts.items()}

    return _there_and_back(config, input, change)
