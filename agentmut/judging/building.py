"""Build evaluators and judge runs: (scenario, trace) -> pass or fail, with a reason."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

from agentmut._base import (
    AgentmutError,
    EvaluatorError,
    NotJudgedError,
    PluginError,
    UsageError,
    briefly,
    error_location,
)
from agentmut.nouns import AgentTrace, Check, EvaluatorSpec, JudgeSpend, OpinionCache, Scenario
from agentmut.seams import (
    AsksModel,
    Catalogue,
    Evaluator,
    GivesChecks,
    Group,
    HasSource,
    NamesTools,
    Notes,
    ReadsFiles,
    attribute_faults,
    from_plugin,
    run_plugin,
    shown,
)

__all__ = [
    "NONE_KNOWN",
    "KnownChecks",
    "NamedEvaluator",
    "build",
    "build_all",
    "checks_of_users",
    "judge",
    "note",
    "remembering",
    "runs_users_code",
    "source",
    "spend",
    "tools_judged",
    "unwrapped",
    "with_files",
]


KEPT = "Finished trials are kept."
KnownChecks = Mapping[int, tuple[Check, ...]]
NONE_KNOWN: KnownChecks = MappingProxyType({})
_REFUSAL = (ValueError, RecursionError)
"""How an evaluator refuses its argument."""


@dataclass(frozen=True)
class NamedEvaluator(GivesChecks):
    """An evaluator under the name it is registered by.

    It turns whatever goes wrong inside an evaluator into an `EvaluatorError`: a broken evaluator says nothing
    about the agent, so it may neither pass nor fail a trial. Only `NotJudgedError` goes through: that trial is no
    evidence, and others may be.
    """

    name: str
    evaluator: Evaluator
    place: str = ""
    """`file:line` of the evaluator; empty where that is not known."""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Return the evaluator's check, under its registered name. Raise `EvaluatorError` or `NotJudgedError`."""
        check = self._judged_by(self.evaluator.evaluate, scenario, trace)
        if not isinstance(check, Check):
            raise self._odd(scenario, check, "evaluate() must return a Check")
        return check if check.evaluator == self.name else check.model_copy(update={"evaluator": self.name})

    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """Return all checks; an evaluator that gives several names them itself. Raises like `evaluate`."""
        if not isinstance(self.evaluator, GivesChecks):
            return (self.evaluate(scenario, trace),)
        checks = self._judged_by(self.evaluator.every_check, scenario, trace)
        if not isinstance(checks, tuple) or not checks or not all(isinstance(one, Check) for one in checks):
            raise self._odd(scenario, checks, "every_check() must return Checks")
        return checks

    def _where(self, scenario: Scenario) -> str:
        return f"{_label(self)} of scenario {scenario.name!r}"

    def _judged_by(
        self, judge: Callable[[Scenario, AgentTrace], Any], scenario: Scenario, trace: AgentTrace
    ) -> Any:
        where = self._where(scenario)
        try:
            return judge(scenario, trace)
        except NotJudgedError as error:
            raise NotJudgedError(f"{where}: {error}") from error
        except EvaluatorError as error:
            raise error.placed(where) from error
        except AgentmutError as error:
            raise EvaluatorError(f"{where}: {error}", f"{where}: {type(error).__name__}") from error
        except KeyboardInterrupt:  # Ctrl-C
            raise
        except BaseException as error:  # an evaluator may be anybody's code
            place = f"({error_location(error)}). Fix the evaluator; it must pass or fail every trace. {KEPT}"
            bare = f"{where} raised {type(error).__name__} {place}"
            raise EvaluatorError(f"{where} raised {briefly(error)} {place}", bare) from error

    def _odd(self, scenario: Scenario, returned: object, remedy: str) -> EvaluatorError:
        """Return the error of an evaluator that returned something else than it must."""
        where = self._where(scenario)
        return EvaluatorError(
            f"{where} returned {shown(returned)}; {remedy}.",
            f"{where} returned a {type(returned).__name__}; {remedy}.",
        )


def build(spec: EvaluatorSpec, catalogue: Catalogue | None = None, place: str = "") -> Evaluator:
    """Return the evaluator that a scenario asks for, from what is installed or from `catalogue`.

    `place` is its `file:line`, for its errors.

    Raises `PluginError` for an unknown or broken evaluator (with the nearest name) and `UsageError` for
    an argument it does not take.
    """
    plugin = (catalogue or Catalogue.from_group(Group.EVALUATORS)).load(spec.name)
    try:
        built = run_plugin(
            f"evaluator {spec.name!r}: {plugin.__name__}()", lambda: plugin(spec.argument), _REFUSAL
        )
    except _REFUSAL as error:
        raise UsageError(f"evaluator {spec.name!r}: {error}") from error
    if faults := "; ".join(attribute_faults(built)):
        raise PluginError(f"evaluator {spec.name!r}: {faults}. Fix {plugin.__module__}.")
    return NamedEvaluator(spec.name, built, place)


def with_files(spec: EvaluatorSpec, catalogue: Catalogue, root: Path) -> EvaluatorSpec:
    """Return the spec with the contents of the files that its argument names, if the evaluator reads any.

    What a file holds judges the runs, so it belongs to what identifies the evaluator. Raises like `build`.
    """
    plugin = catalogue.load(spec.name)
    if not issubclass(plugin, ReadsFiles):
        return spec
    try:
        argument = from_plugin(
            f"evaluator {spec.name!r}: read_files()",
            JsonValue,
            lambda: plugin.read_files(spec.argument, root),
            _REFUSAL,
        )
    except _REFUSAL as error:
        raise UsageError(f"evaluator {spec.name!r}: {error}") from error
    return spec.model_copy(update={"argument": argument})


def build_all(
    specs: Iterable[EvaluatorSpec], catalogue: Catalogue | None = None, places: Sequence[str] = ()
) -> tuple[Evaluator, ...]:
    """Build several evaluators; the installed plugins are read once. `places` has the `file:line` of the first ones."""
    catalogue = catalogue or Catalogue.from_group(Group.EVALUATORS)
    return tuple(
        build(spec, catalogue, place) for spec, place in zip(specs, chain(places, repeat("")), strict=False)
    )


def tools_judged(evaluator: Evaluator) -> tuple[str, ...]:
    """Return the names of the tools that an evaluator judges; none if it does not declare `NamesTools`."""
    inner = unwrapped(evaluator)
    return tuple(inner.tools) if isinstance(inner, NamesTools) else ()


def unwrapped(evaluator: Evaluator) -> Evaluator:
    """Return the evaluator itself, without the wrapper that names it."""
    return evaluator.evaluator if isinstance(evaluator, NamedEvaluator) else evaluator


def remembering(evaluator: Evaluator, cache: OpinionCache) -> Evaluator:
    """Return an evaluator that keeps the replies of models in `cache`; itself if it asks no model."""
    inner = unwrapped(evaluator)
    if not isinstance(inner, AsksModel):
        return evaluator
    own = from_plugin(f"{_label(evaluator)}: remembering()", Evaluator, lambda: inner.remembering(cache))
    return replace(evaluator, evaluator=own) if isinstance(evaluator, NamedEvaluator) else own


def note(evaluator: Evaluator, scenario: Scenario) -> str:
    """Return what an evaluator has to tell a reader before any run; empty if it does not declare `Notes`."""
    inner = unwrapped(evaluator)
    if not isinstance(inner, Notes):
        return ""
    try:
        told: str = from_plugin(f"{_label(evaluator)}: note()", str, lambda: inner.note(scenario))
    except EvaluatorError as error:
        raise error.placed(f"{_label(evaluator)} of scenario {scenario.name!r}") from None
    return told


def source(evaluator: Evaluator) -> str:
    """Return the code that an evaluator's argument only names; empty if it does not declare `HasSource`."""
    inner = unwrapped(evaluator)
    if not isinstance(inner, HasSource):
        return ""
    text: str = from_plugin(f"{_label(evaluator)}: source", str, lambda: inner.source)
    return text


def spend(evaluator: Evaluator) -> JudgeSpend:
    """Return what an evaluator has asked of its model; nothing if it does not declare `AsksModel`."""
    inner = unwrapped(evaluator)
    if not isinstance(inner, AsksModel):
        return JudgeSpend()
    spent: JudgeSpend = from_plugin(f"{_label(evaluator)}: spend", JudgeSpend, lambda: inner.spend)
    return spent


def _label(evaluator: Evaluator) -> str:
    if not isinstance(evaluator, NamedEvaluator):
        return f"evaluator {type(evaluator).__name__!r}"
    return (
        f"{evaluator.place}: evaluator {evaluator.name!r}"
        if evaluator.place
        else f"evaluator {evaluator.name!r}"
    )


def runs_users_code(evaluator: Evaluator) -> bool:
    """Return whether an evaluator runs code of users, which may never return; those that ask models are apart."""
    inner = unwrapped(evaluator)
    if isinstance(inner, AsksModel):
        return False
    return isinstance(inner, HasSource) or not type(inner).__module__.startswith("agentmut.")


def judge(
    evaluators: Iterable[Evaluator], scenario: Scenario, trace: AgentTrace, known: KnownChecks = NONE_KNOWN
) -> tuple[Check, ...]:
    """Return the checks of all evaluators, in order. The trial passes if all of them hold.

    Evaluators whose checks are `known`, by their places in the order, are not asked.
    """
    as_run = scenario.as_run(trace)
    return tuple(
        check
        for place, evaluator in enumerate(evaluators)
        for check in (known[place] if place in known else _checks(evaluator, as_run, trace))
    )


def checks_of_users(evaluators: Iterable[Evaluator], scenario: Scenario, trace: AgentTrace) -> KnownChecks:
    """Return the checks of the evaluators that run code of users, by the evaluators' places in the order."""
    as_run = scenario.as_run(trace)
    every = enumerate(evaluators)
    return {
        place: _checks(evaluator, as_run, trace) for place, evaluator in every if runs_users_code(evaluator)
    }


def _checks(evaluator: Evaluator, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
    if isinstance(evaluator, GivesChecks):
        return evaluator.every_check(scenario, trace)
    return (evaluator.evaluate(scenario, trace),)
