"""The ready loops on OpenAI Responses and Anthropic Messages: the real SDKs against a scripted service."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.mutation.generation import generate
from agentmut.nouns.config import History
from agentmut.nouns.mutant import Edit, Mutant, OperatorClass
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.trial.witness.witness import Detector
from tests.adapters.scripted_loops import (
    CONFIG,
    Scripted,
    anthropic,
    function_call,
    message,
    response,
    responses,
    run,
    scripted_service,
    spoken,
    text,
    use,
)


@pytest.fixture(autouse=True)
def scripted(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    with scripted_service(loop_thread, monkeypatch) as service:
        yield service


@pytest.mark.parametrize(
    ("make", "model", "said"),
    [
        (anthropic, {"seed": 1}, "the Anthropic Messages API has no seed 1"),
        (anthropic, {"response_format": {"type": "json_object"}}, "has no response_format"),
        (anthropic, {"temperature": 1.5}, "takes temperatures up to 1, not 1.5"),
        (anthropic, {"reasoning_effort": "minimal"}, "has no reasoning_effort 'minimal'"),
        (responses, {"seed": 1}, "the Responses API has no seed"),
        (responses, {"stop": ("END",)}, "the Responses API has no stop"),
    ],
)
def test_settings_that_the_api_lacks_are_refused_and_not_dropped(make: Any, model: Any, said: str) -> None:
    changed = CONFIG.model.model_copy(update=model)
    with pytest.raises(UsageError, match=said):
        make(model=changed)
    name, value = next(iter(model.items()))
    after = list(value) if isinstance(value, tuple) else value
    before = CONFIG.model.model_dump(mode="json")[name]
    edit = Edit(pointer=f"/model/{name}", before=before, after=after)
    mutant = Mutant(
        id="m", operator="model.x", version=1, operator_class=OperatorClass.MODEL, intent="degrade",
        reach="sent", description="d", edits=(edit,),
    )  # fmt: skip
    assert said in make().cannot_express(mutant)


def first_mutants(adapter: Any) -> dict[str, Mutant]:
    catalogue = Catalogue.from_group("operators")
    options = OperatorOptions(swap_models=("m-2",), slow_seconds=0.01)
    usual = [x for name in catalogue.names if not isinstance(x := catalogue.load(name)(), OnDemand)]
    found = generate(adapter.get_config(), usual, options)
    return {m.operator: m for m in reversed(found.mutants) if not adapter.cannot_express(m)}


Tool = Callable[[int, str], dict[str, Any]]


CALLS: dict[Any, Tool] = {
    anthropic: lambda number, order: message(use(number, order), stop="tool_use"),
    responses: lambda number, order: response(function_call(number, json.dumps({"order": order}))),
}
SAYS: dict[Any, Callable[[str], Any]] = {
    anthropic: lambda said: message(text(said)),
    responses: lambda said: response(spoken(said)),
}


@pytest.mark.parametrize("make", [anthropic, responses])
def test_mutants_of_every_class_arrive(make: Any, scripted: Scripted) -> None:
    call, say = CALLS[make], SAYS[make]
    adapter = make(history=History.KEPT)
    base = adapter.get_config()
    chosen = first_mutants(adapter)
    assert {name.partition(".")[0] for name in chosen} == {
        "prompt", "tool", "model", "context", "orchestration"
    }  # fmt: skip
    for mutant in chosen.values():
        scripted.script = [call(1, "A-1"), call(2, "B-2"), say("First."), say("Second.")]
        found = run(adapter.with_config(mutant.apply(base)), "One", "Two")
        assert Detector(mutant, base).witness(found.footprint), (mutant.operator, found)
