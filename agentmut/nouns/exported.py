"""The parts of a trial that the names of an export's format leave out: kept beside them, so that nothing is lost."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.foreign import ForeignTrial, ImportedAs, ImportedTrial
from agentmut.nouns.trace import Action, AgentTrace, Step

Json = dict[str, JsonValue]
_DEFAULTS = Step(action=Action.REASON).model_dump(mode="json", exclude={"action"})


def step_beyond(step: Step, carried: Mapping[str, JsonValue]) -> Json:
    """Return the fields of a step that differ from `carried`, which a reader finds under the format's own names.

    >>> step_beyond(Step(action=Action.RESPOND, output="Yes.", turn=1), {"output": "Yes."})
    {'action': 'respond', 'turn': 1}
    """
    whole = step.model_dump(mode="json")
    known = {**_DEFAULTS, **carried}
    return {name: value for name, value in whole.items() if name not in known or known[name] != value}


def step_of(beyond: Mapping[str, JsonValue], carried: Mapping[str, JsonValue]) -> Step:
    """Return the step that `step_beyond` was given."""
    return Step.model_validate({**carried, **beyond})


def config_beyond(config: AgentConfig) -> Json:
    """Return a config without its prompt, and without tools of which a model's own definition tells all."""
    plain = all(
        tool.name and tool.parameters and tool.implemented_by is None and tool.fault is None
        for tool in config.tools
    )
    left = {"prompt", "tools"} if plain else {"prompt"}
    return config.model_dump(mode="json", exclude_defaults=True, exclude=left)


def config_of(beyond: Mapping[str, JsonValue], carried: AgentConfig) -> AgentConfig:
    """Return the config that `config_beyond` was given; `carried` has the prompt and the tools."""
    return AgentConfig.model_validate({"prompt": carried.prompt, "tools": carried.tools, **beyond})


def trace_beyond(trace: AgentTrace, named: set[str]) -> Json:
    """Return the fields of a trace without `named`, and without defaults."""
    return trace.model_dump(mode="json", exclude_defaults=True, exclude=named)


def answers_of_steps(steps: Sequence[Step]) -> tuple[JsonValue, ...]:
    """Return the last answer of each turn that was answered, which mostly are the outputs of a trace."""
    answers = {step.turn: step.output for step in steps if step.action is Action.RESPOND}
    return tuple(answers[turn] for turn in sorted(answers))


def imported_beyond(found: ImportedTrial) -> Json:
    """Return what is known of an imported run besides its trace and its config, JSON types throughout."""
    record = found.trial.model_dump(
        mode="json", exclude_defaults=True, exclude={"trace", "config", "turns", "imported_as"}
    )
    known = found.model_dump(mode="json", exclude={"trial"})
    return {"record": record, "as": {**known, "place": record["place"]}}


def imported_again(beyond: Mapping[str, JsonValue], read: ForeignTrial) -> ForeignTrial:
    """Return the run that `imported_beyond` was given; `read` has its trace, its config, its turns and its new place.

    Raises `ValueError` where it was changed.
    """
    record = beyond["record"]
    if not isinstance(record, dict):
        raise ValueError("the record of the imported run is no mapping")
    given = {"trace": read.trace, "config": read.config, "turns": read.turns, "place": read.place}
    return ForeignTrial.model_validate(
        {**record, **given, "imported_as": ImportedAs.model_validate(beyond["as"])}
    )
