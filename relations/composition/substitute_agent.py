"""The relation of another model or another prompt: an agent with other parts must do the same."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from pydantic import JsonValue, ValidationError

from agentmut._base import MutationError, arguments, at_path, parts_of
from agentmut.nouns import (
    AgentConfig,
    Check,
    Edit,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    ModelConfig,
    Pair,
    Scenario,
    Source,
    apply_edits,
)
from agentmut.relations.base import run, source
from agentmut.seams import HasExampleArgument, RelationExample, same_facts

_WHAT = (
    "expects what is put in: {model: NAME}, {model: {name: ..., temperature: ...}}, {prompt: TEXT} or "
    "{set: {/json/pointer: VALUE}}"
)


class SubstituteAgent(HasExampleArgument):
    """`composition.substitute_agent: {model: NAME}`: an agent with another part shows the same facts.

    `model` is a name or a mapping of settings, `prompt` the whole text, `set` any places of the config by JSON
    pointer; several may be given. The follow-up run is the scenario as it is, by the agent so changed.
    """

    id = "composition.substitute_agent"
    version = 1
    family = Family.COMPOSITION
    expectation = Expectation.INVARIANT
    why = "The agent that was put in does not do what the one in its place did."
    example_argument: ClassVar[JsonValue] = {"model": "small"}

    def __init__(self, argument: JsonValue = None) -> None:
        if not isinstance(argument, dict) or not argument:
            raise ValueError(f"{_WHAT}; got {argument!r}")
        self.places = dict(_places(arguments.mapping(argument, (), ("model", "prompt", "set"))))

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not fit: the parts are in place already, or the config has no such place."""
        edits = self._edits(config)
        if not edits:
            return "the agent is already the one that is put in"
        try:
            apply_edits(config, edits)
        except MutationError as error:
            return " ".join(str(error).split())
        return ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the same turns with the config changed."""
        edits = self._edits(source.config)
        changed = ", ".join(f"{edit.pointer.removeprefix('/')} {_place_text(edit.after)}" for edit in edits)
        return FollowUp(runs=(FollowUpRun(edits=edits),), description=f"another agent put in: {changed}")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether both agents show the same facts."""
        return same_facts(self.id, pair)

    def examples(self) -> Iterable[RelationExample]:
        """Return one that agrees with the agent in its place, and one that does not."""
        config = AgentConfig(prompt="Help.", model=ModelConfig(name="large"))
        asked = source("What does it cost?", answer="It costs $20.", config=config)
        return (
            RelationExample(asked, (run("The price is $20."),), holds=True),
            RelationExample(asked, (run("It costs $30."),), holds=False),
        )

    def _edits(self, config: AgentConfig) -> tuple[Edit, ...]:
        plain = config.model_dump(mode="json")
        edits = (
            Edit(pointer=place, before=at_path(plain, parts_of(place)), after=after)
            for place, after in self.places.items()
        )
        return tuple(edit for edit in edits if edit.before != edit.after)


def _places(options: dict[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """Yield the new values by JSON pointer."""
    if "model" in options:
        model = options["model"]
        settings = model if isinstance(model, dict) else _named(model)
        _check_model(settings)
        yield from ((f"/model/{name}", value) for name, value in settings.items())
    if "prompt" in options:
        yield "/prompt", arguments.text(options["prompt"], "the text of a prompt")
    others = options.get("set", {})
    if not isinstance(others, dict):
        raise ValueError(f"{_WHAT}; got set: {others!r}")
    for place, value in others.items():
        if parts_of(place)[:1] not in [(part,) for part in AgentConfig.model_fields]:
            raise ValueError(
                f"set: {place!r} is no JSON pointer into the config; it begins with one of "
                f"{', '.join('/' + part for part in AgentConfig.model_fields)}"
            )
        yield place, value


def _named(model: JsonValue) -> dict[str, JsonValue]:
    return {"name": arguments.text(model, "the name of a model, or a mapping of its settings")}


def _check_model(settings: dict[str, JsonValue]) -> None:
    try:
        ModelConfig.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"model: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _place_text(value: JsonValue) -> str:
    shown = value if isinstance(value, str) else repr(value)
    line = " ".join(shown.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
