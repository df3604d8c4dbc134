"""The advice at the end of an examination, in sentences."""

from collections.abc import Iterable, Sequence

from agentmut.store import Arrival, Diagnosis, Part
from agentmut.trial import of_strangers

UNRUNNABLE = (
    "Fix the cause above, and run `agentmut doctor` again. agent.env sets variables, "
    "execution.timeout gives it more seconds, --scenario takes another input; `agentmut simulate -- agentmut doctor` "
    "puts a simulated model in the place of a service that refuses or is not there."
)


def advice_of(
    found: Diagnosis, adopted: str, clock: str, strangers: Sequence[str], *, reads_files: bool
) -> Iterable[str]:
    """Yield what to do about the findings, one sentence or two each.

    `adopted` is the file of the request that parts were taken from, `clock` says why clock and folder were the same,
    and `strangers` are threads without a trial that sent model requests; each is empty where there is none.
    """
    yield from _of_routes(found)
    if found.remembers:
        yield (
            "A run began with what an earlier run was told: the agent keeps its conversation, so trials are not "
            "independent. Make its history and its memory anew in each run, where the agent is built."
        )
    if not found.reachable:
        yield "No change reaches this agent: a campaign would say nothing about its tests."
    if strangers:
        yield from sentences([of_strangers(strangers)])
    if clock:
        yield f"{clock.rstrip('.')}."
    yield from _of_request(found, adopted, reads_files)


def of_spelling(asked: str, turns: Sequence[object]) -> Iterable[str]:
    """Yield what to do if a function takes a question for a list of turns, and so asks its model letter by letter.

    `asked` is what the user says in the first request of a run.
    """
    question = turns[0] if len(turns) == 1 else None
    if isinstance(question, str) and len(question.strip()) > 1 and asked == question.strip()[0]:
        yield (
            f"The agent asks its model only for the first letter of the question, {asked!r}: its function takes a text "
            "for a list of turns. A scenario with `input` gives the text, one with `turns` a list of texts. If the "
            "parameter is annotated as a list, such as `turns: list[str]`, the function always gets a list."
        )


def _of_routes(found: Diagnosis) -> Iterable[str]:
    """Yield which parts arrive as a whole by the other route alone, and which parts do not."""
    own = found.route
    other = "wire" if own == "rebuild" else "rebuild"
    better = [
        part.name
        for part in found.parts
        if _through(part, other) is Arrival.ALL and _through(part, own) is not Arrival.ALL
    ]
    worse = [
        part.name
        for part in found.parts
        if _through(part, own) is Arrival.ALL and _through(part, other) is not Arrival.ALL
    ]
    if better:
        but = f", though changes of {_and(worse)} do not" if worse else ""
        yield f"With `agent.route: {other}` changes of {_and(better)} arrive as a whole{but}."


def _of_request(found: Diagnosis, adopted: str, reads_files: bool) -> Iterable[str]:
    """Yield how the project names the recorded request that prompts are mutated by."""
    if adopted:
        yield (
            f"Name {adopted} under agent.config.request: doctor tried the parts in this request. Without the request "
            "no prompt is mutated."
        )
    elif (
        not reads_files
        and "prompt" not in (part.name for part in found.parts)
        and any(shape.prompt_length for shape in found.requests)
    ):
        yield (
            "No prompt is declared, so none is mutated: give agent.config.prompt, or keep a request with "
            "`agentmut doctor --save-request request.json` and name it under agent.config.request."
        )


def sentences(phrases: Iterable[str]) -> Iterable[str]:
    """Return phrases with a capital letter and a full stop."""
    return (f"{said[0].upper()}{said[1:]}." for said in phrases)


def _through(part: Part, route: str) -> Arrival:
    return part.wire.arrival if route == "wire" else part.rebuild.arrival


def any_of(names: Sequence[str]) -> str:
    """Return names as alternatives: `prompt or tools`."""
    return " or ".join(names)


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
