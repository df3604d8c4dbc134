"""The search for scenarios, on a small real agent whose suite is thin."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import RunInterruptedError, UsageError
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.campaign import register
from agentmut.campaign.preparation.session import open_session
from agentmut.insight.coverage.nouns import Dimension
from agentmut.insight.generate.proposals import Proposal
from agentmut.insight.generate.stand_ins import MADE_UP, StandIns
from agentmut.insight.search.proposal_check import Trying
from agentmut.insight.search.search_preparation import check_harmless, search_of, start_of, what_is_stored
from agentmut.insight.search.trial_bench import Bench, WantedRuns
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.report.terminal.suggestions_page import render_suggestions
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store
from agentmut.usecases.suggestions import Proposed, free_suggestions, searched_suggestions

pytestmark = pytest.mark.whole

AGENT = '''
import hashlib, re
from pathlib import Path
from typing import Literal
import agentmut
from agentmut.recording.current import current_trial

LOG = Path(__file__).with_name("really_called.log")


@agentmut.tool
def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"status": "in transit"}


@agentmut.tool
def cancel_order(order_id: str, reason: Literal["late", "broken"] = "late") -> dict:
    """Cancel an order completely."""
    LOG.write_text("cancelled")
    return {"cancelled": order_id}


TOOLS = [lookup_order, cancel_order]


def run(config, input):
    functions, prompt = agentmut.toolbox(config, TOOLS), config.prompt
    lucky = int(hashlib.sha256(current_trial().id.encode()).hexdigest(), 16) % 100 < 98
    order = re.search(r"A-[0-9]+", input)
    if order and "lookup_order" in functions:
        functions["lookup_order"](order_id=order[0])
    if order and lucky and "cancel" in input.lower() and "cancel_order" in functions:
        reason = "broken" if "broken" in input else "late"
        functions["cancel_order"](order_id=order[0], reason=reason)
        return "It is cancelled."
    if "lawyer" in input and "lawyer" in prompt:
        return "Somebody will call you within 2 hours."
    return "It is in transit."
'''
UNPRICED = """
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from MODULE import cancel_order, lookup_order, run as inner

def run(config, input):
    call = Step(action=Action.REASON, model="house-model", usage=Usage(input_tokens=9, output_tokens=9))
    return AgentTrace(steps=(call,), outputs=(inner(config, input),))
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: MODULE:run
  config:
    prompt: |
      - Look up the order before you answer.
      - If somebody mentions a lawyer, promise a call within 2 hours.
    tools: MODULE:TOOLS
suite: {scenarios: scenarios.yaml, threshold: 0.8}
mutation: {operators: [prompt.drop_instruction, tool.remove]}
statistics: {baseline: 30, n_max: 30, seed: 5}
suggest: {trials: 130, repeats: 4}
"""
SCENARIOS = """
- name: status
  input: "Where is order A-1042?"
  evaluators: [{tool_called: lookup_order}]
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with a finished campaign."""
    folder = tmp_path_factory.mktemp("search") / "shop"
    folder.mkdir()
    module = f"shop_{folder.parent.name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT.replace("MODULE", module))
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    result = measure(folder)
    assert {row.status.value for row in result.mutants} == {"killed", "survived", "no_coverage"}
    return folder


@pytest.fixture
def copied(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured, tmp_path / "shop"))


def search(folder: Path, now: float = 1.8e9, **settings: Any) -> Proposed:
    project = load_project(folder)
    with open_store(project) as store:
        return searched_suggestions(open_session(project), store, now=now, **settings)


@pytest.fixture(scope="module")
def searched(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Proposed]:
    folder = Path(shutil.copytree(measured, tmp_path_factory.mktemp("found") / "shop"))
    return folder, search(folder)


@pytest.fixture(scope="module")
def found(searched: tuple[Path, Proposed]) -> Proposed:
    return searched[1]


def test_no_tool_that_may_do_harm_is_really_called(searched: tuple[Path, Proposed]) -> None:
    assert not (searched[0] / "really_called.log").exists()


def test_an_agent_whose_tools_nothing_names_is_not_searched_unless_they_are_declared_safe() -> None:
    adapter = CallableAdapter.create(AgentSpec(adapter="python", run="os.path:basename"), AgentConfig())
    nothing, one = StandIns({}, frozenset()), StandIns({"remove_account": MADE_UP}, frozenset())
    for safe in ((), ("look_up",)):
        with pytest.raises(UsageError, match=r"its config names none.*safe_tools: all"):
            check_harmless(adapter, AgentConfig(), nothing, safe)
    with pytest.raises(UsageError, match=r"really call remove_account.*cannot be intercepted"):
        check_harmless(adapter, AgentConfig(), one, ())
    check_harmless(adapter, AgentConfig(), nothing, ("all",))


def test_the_words_of_a_rule_in_the_input_are_no_gain_unless_the_agent_does_it(copied: Path) -> None:
    project = load_project(copied)
    with open_store(project) as store:
        stored = what_is_stored(open_session(project), store)
        base = stored.session.scenarios[0]
        parroted = Proposal(("If somebody mentions a lawyer, promise a call within 2 hours?",), base, "test")
        found = search_of(stored, start_of(stored), now=1.8e9)
        trying = Trying(found.start, found.bench, found.killing, set())
        silent, speaking = (
            (ended(answer),)
            for answer in ("No.", "I promise: within 2 hours somebody will call, the lawyer mentioned.")
        )
        assert not [i for i in trying._gained(trying.scenario(parroted), silent) if i.startswith("rule")]
        assert [i for i in trying._gained(trying.scenario(parroted), speaking) if i.startswith("rule")]


def ended(answer: str) -> Execution:
    trace = AgentTrace(steps=(Step(action=Action.RESPOND),), outputs=(answer,))
    return Execution(trace=trace, ending=Ending.ANSWERED)


def test_a_scenario_is_found_for_a_tool_that_none_calls(found: Proposed) -> None:
    new = next(s for s in found.suggestions.scenarios if "tool cancel_order" in s.adds)
    assert "cancel" in str(new.scenario.turns[0]).lower() and "A-1042" in str(new.scenario.turns[0])
    assert new.scenario.tools["cancel_order"].returns == {"ok": True} and "made-up double" in new.why
    assert ("tool_order", ["lookup_order", "cancel_order"]) in [
        (spec.name, spec.argument) for spec in new.scenario.evaluators
    ]
    assert new.passes.of == 8 and (new.passes.share or 0) >= 0.8


def test_a_surviving_mutant_dies_by_a_rule_that_no_scenario_exercised(
    found: Proposed, measured: Path
) -> None:
    survivors = {
        row.id for row in measure(measured).mutants if row.status == "survived" and "lawyer" in row.before
    }
    assert survivors
    killers = [s for s in found.suggestions.scenarios if survivors & set(s.kills)]
    assert killers and all("lawyer" in str(s.scenario.turns) for s in killers)
    assert any(spec.argument == "2 hours" for spec in killers[0].scenario.evaluators)


def test_nothing_is_kept_that_adds_nothing_and_coverage_does_not_fall(found: Proposed) -> None:
    kept = found.suggestions.scenarios
    added = [item for suggestion in kept for item in suggestion.adds]
    assert kept and all(s.adds or s.kills for s in kept)
    assert len(added) == len(set(added)), "two suggestions claim the same item"
    assert len({s.scenario.turns for s in kept}) == len(kept)
    assert found.searched is not None
    before, after = found.searched.before, found.searched.after
    assert after.of(Dimension.TOOL).value == 1.0 > (before.of(Dimension.TOOL).value or 0)
    assert {str(item) for item in before.covered} <= {str(item) for item in after.covered}


def test_the_same_command_again_ends_the_same_and_runs_nothing(
    searched: tuple[Path, Proposed], tmp_path: Path
) -> None:
    folder, first = searched
    # ids of runs are of their time
    second = search(Path(shutil.copytree(folder, tmp_path / "shop")), now=1.8e9 + 2)
    assert second.suggestions.scenarios == first.suggestions.scenarios
    assert first.searched and second.searched
    assert first.searched.executed == first.searched.asked == second.searched.asked
    assert second.searched.executed == 0


def test_an_interrupted_search_goes_on_and_ends_the_same(found: Proposed, copied: Path) -> None:
    def interrupt(bench: Bench) -> None:
        if bench.trials_asked_for >= 40:
            raise RunInterruptedError("said the test")

    with pytest.raises(RunInterruptedError):
        search(copied, progress=interrupt)
    again = search(copied, now=1.8e9 + 1)  # ids of runs are of their time
    assert again.suggestions.scenarios == found.suggestions.scenarios
    assert again.searched and found.searched
    assert found.searched.asked - again.searched.executed >= 40
    project = load_project(copied)
    with open_store(project) as store:
        assert [run.status for run in store.runs()][:2].count("interrupted") == 1


@pytest.mark.parametrize("trials", [3, 4, 45])
def test_the_budget_of_trials_is_kept(trials: int, copied: Path) -> None:
    project = load_project(copied)
    with open_store(project) as store:
        done = searched_suggestions(open_session(project), store, now=1.8e9, trials=trials)
        run = done.suggestions.state["search"]
        assert store.spent(run).trials == (done.searched.executed if done.searched else -1) <= trials
    assert f"the budget of {trials} trials" in done.suggestions.state["ended"]


def test_a_budget_of_the_project_ends_the_search_too(copied: Path) -> None:
    settings = copied / "agentmut.yaml"
    settings.write_text(settings.read_text() + "budget: {trials: 30}\n")
    done = search(copied)
    assert done.searched and done.searched.executed <= 30 and "budget:" in done.searched.ended


def test_a_model_without_a_price_is_an_error_of_the_project_file_in_a_search_too(copied: Path) -> None:
    settings = copied / "agentmut.yaml"
    (module,) = (file.stem for file in copied.glob("shop_*.py"))
    (copied / f"{module}_priced.py").write_text(UNPRICED.replace("MODULE", module))
    text = settings.read_text().replace(f"{module}:run", f"{module}_priced:run")
    settings.write_text(f"{text}budget: {{usd: 1}}\n")
    with pytest.raises(UsageError, match=r"budget\.usd needs a price for model house-model"):
        search(copied)


def test_what_an_input_does_not_need_is_dropped(copied: Path) -> None:
    project: Project = load_project(copied)
    with open_store(project) as store:
        stored = what_is_stored(open_session(project), store)
        long = "Hello there. I hope that you are well. Please cancel order A-1042. The weather is nice today."
        base = stored.session.scenarios[0]
        start = start_of(stored, (Proposal((long,), base, "written by the test"),))
        kept = search_of(stored, start, now=1.8e9, trials=80).run().kept
    assert kept[0].scenario.turns == ("Please cancel order A-1042.",)


def test_without_a_search_ideas_are_free(copied: Path) -> None:
    project = load_project(copied)
    with open_store(project) as store:
        session, before = open_session(project), len(store.runs())
        said = free_suggestions(session, store)
        assert len(store.runs()) == before
    ideas = {idea.item: idea.input for idea in said.ideas}
    assert "cancel an order" in ideas["tool cancel_order"]


def test_a_scenario_without_a_run_is_told_of_since_what_it_exercises_is_not_known(copied: Path) -> None:
    asked = "- {name: cancels, input: 'Cancel A-1042', evaluators: [{tool_called: cancel_order}]}\n"
    with (copied / "scenarios.yaml").open("a") as file:
        file.write(asked)
    project = load_project(copied)
    with open_store(project) as store:
        found = free_suggestions(open_session(project), store)
    assert any(
        "cancels has no run yet" in note and "agentmut run" in note for note in found.suggestions.notes
    )
    said = " ".join(render_suggestions(found).split())
    assert "What no stored run shows" in said and "by any scenario" not in said


def test_nothing_stored_says_what_to_do_first(copied: Path) -> None:
    shutil.rmtree(copied / ".agentmut")
    with pytest.raises(UsageError, match=r"no run of the suite is stored.*agentmut run"):
        search(copied)


def test_a_model_writes_inputs_too_and_is_asked_once(
    copied: Path, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = copied / "agentmut.yaml"
    settings.write_text(settings.read_text().replace("repeats: 4", "repeats: 4, model: 'openai:writer'"))
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    service.replies('{"inputs": [{"for": "tool cancel_order", "input": "Kindly cancel A-1042 for me"}]}')
    first, again = search(copied, trials=30), search(copied, trials=30)
    assert first.suggestions.scenarios[0].origin == "written by openai:writer"
    assert first.suggestions.scenarios == again.suggestions.scenarios
    assert len(service.requests) == 1 and "cancel_order" in str(service.requests[0].messages)


def test_a_model_that_is_none_is_refused(copied: Path) -> None:
    settings = copied / "agentmut.yaml"
    settings.write_text(settings.read_text().replace("repeats: 4", "repeats: 4, model: gpt"))
    with pytest.raises(UsageError, match=r"suggest.model: expected ADAPTER:MODEL.*'gpt'"):
        search(copied)


def test_the_rounds_of_a_search_share_the_budget_of_minutes(copied: Path) -> None:
    project = load_project(copied)
    with open_store(project) as store:
        session = open_session(project)
        search = search_of(stored := what_is_stored(session, store), start_of(stored), now=1.8e9)
        register(store, search.bench.plan)
        proposal = Proposal(("Where is order A-1042, please?",), project.scenarios[0], "")
        scenario = Trying(search.start, search.bench, search.killing, set()).scenario(proposal)
        search.bench.run([WantedRuns(scenario, None, 0, 2)])
        first = search.bench.seconds
        search.bench.run([WantedRuns(scenario, None, 2, 4)])
        assert 0 < first < search.bench.seconds == store.spent(search.bench.plan.run_id).seconds
