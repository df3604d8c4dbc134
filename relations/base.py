"""The common parts of relations: checks, turns that are text, answers without steps."""

import random
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.nouns import Action, AgentConfig, AgentTrace, Check, EvaluatorSpec, Scenario, Source, Step
from agentmut.seams import plain_text


class NoArgument:
    """A relation that takes no argument."""

    def __init__(self, argument: JsonValue = None) -> None:
        if argument is not None:
            raise ValueError(f"takes no argument, got {argument!r}")


class FitsAll(NoArgument):
    """A relation that takes no argument and fits every scenario."""

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return an empty text: the relation fits every scenario."""
        return ""


def check(relation: str, faults: Sequence[str], held: str) -> Check:
    """Return a check that passes without faults, with `held` as its reason."""
    reason = "; ".join(dict.fromkeys(faults)) or held
    return Check(evaluator=relation, passed=not faults, reason=reason)


def texts(turns: Sequence[JsonValue]) -> tuple[str, ...] | None:
    """Return the turns if all of them are text; else None."""
    found = tuple(turn for turn in turns if isinstance(turn, str) and turn.strip())
    return found if len(found) == len(turns) else None


def without_text(scenario: Scenario) -> str:
    """Return why a relation that reads or writes requests does not fit; empty where all turns are text."""
    return plain_text(scenario, AgentConfig())


def answers_alone(trace: AgentTrace, outputs: Iterable[JsonValue] | None = None) -> AgentTrace:
    """Return the trace without its steps, so that only answers are compared; with `outputs`, only these."""
    kept = trace.outputs if outputs is None else tuple(outputs)
    return trace.model_copy(update={"steps": (), "outputs": kept, "edges": ()})


def in_one_answer(traces: Sequence[AgentTrace]) -> AgentTrace:
    """Return runs joined into one trace: all steps, and all answers as one text."""
    texts = [_as_text(output) for trace in traces for output in trace.outputs]
    steps = tuple(step.model_copy(update={"turn": 0}) for trace in traces for step in trace.steps)
    outputs = ("\n\n".join(texts),) if texts else ()
    return traces[0].model_copy(update={"steps": steps, "outputs": outputs, "edges": ()})


def stated(answers: Iterable[JsonValue]) -> AgentTrace:
    """Return a trace with one answer and no steps."""
    return AgentTrace(outputs=("\n\n".join(_as_text(one) for one in answers),))


def _as_text(output: JsonValue) -> str:
    return output if isinstance(output, str) else canonical_json(output)


# For examples.


def source(
    *turns: JsonValue, answer: JsonValue | AgentTrace = "Done.", config: AgentConfig | None = None
) -> Source:
    """Return a source run of a scenario with these turns, and with this answer or trace."""
    trace = answer if isinstance(answer, AgentTrace) else run(answer)
    # What an example's scenario is judged by is of no account.
    scenario = Scenario(name="example", turns=turns, evaluators=(EvaluatorSpec(name="regex", argument="."),))
    return Source(scenario, config or AgentConfig(), trace, random.Random(0))


def run(*outputs: JsonValue, steps: Iterable[Step] = ()) -> AgentTrace:
    """Return a run with these answers."""
    return AgentTrace(outputs=outputs, steps=tuple(steps))


def call(tool: str, output: JsonValue = "ok", turn: int = 0, **arguments: JsonValue) -> Step:
    """Return a call of a tool that went well."""
    return Step(action=Action.CALL_TOOL, tool=tool, arguments=arguments, output=output, turn=turn)
