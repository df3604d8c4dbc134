"""What can be told of a mutant on a scenario that was never run."""

from collections import Counter

import pytest

from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.predicted_reach import MayReach, may_reach
from agentmut.campaign.trials import TrialResult
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Outcome
from agentmut.trial.suite_config import SuiteConfig

ONLY_OTHER = Document(name="prices.md", text="Ten dollars.")
CHECKS = (EvaluatorSpec(name="contains", argument="x"),)
OTHER = Scenario(name="other", turns=("Hi",), evaluators=CHECKS, context=(ONLY_OTHER,))
NEW = Scenario(name="new", turns=("Hi",), evaluators=CHECKS)
TALK = NEW.model_copy(update={"turns": ("Hi", "And now?")})
PROMPT = Edit(pointer="/prompt", before="Be kind.", after="", span=(0, 8))
SUITE = SuiteConfig(
    AgentConfig(prompt="Be kind.", context=(Document(name="all.md", text="All."),)), (OTHER, NEW)
)


def a_mutant(reach: Reach, subject: str = "") -> Mutant:
    return Mutant(
        id=f"{reach}", operator="tool.x", version=1, operator_class=OperatorClass.TOOL, intent=Intent.DEGRADE,
        reach=reach, subject=subject, description="", edits=(PROMPT,),
    )  # fmt: skip


def baseline(*reads: str) -> ScenarioBaseline:
    """One run of the original that read these parts of its config."""
    run = TrialResult(
        outcome=Outcome.PASS, ending=Ending.ANSWERED, reason="", checks=(), witness=None,
        footprint=Footprint(reads=reads), tools=Counter(), tokens=0, usd=None, unpriced=frozenset(),
        seconds=0.1, abandoned=False,
    )  # fmt: skip
    found = ScenarioBaseline(wanted=1)
    found.launched = 1
    found.record(run, 0)
    return found


def told(mutant: Mutant, scenario: Scenario = NEW, **baselines: ScenarioBaseline) -> MayReach | None:
    return may_reach(mutant, scenario, SUITE, baselines or {"other": baseline("prompt")})


def test_a_part_that_every_scenario_sends_reaches_the_new_one() -> None:
    found = told(a_mutant(Reach.SENT))
    assert found == (True, "every scenario that was run sends this part of the prompt")


def test_a_part_that_only_some_scenarios_send_may_reach_the_new_one() -> None:
    found = told(a_mutant(Reach.SENT), a=baseline("prompt"), b=baseline("model"))
    assert found and not found.certain
    assert found.why.startswith("1 of 2 scenarios that were run send this part of the prompt")


@pytest.mark.parametrize(
    ("reach", "said"),
    [
        (Reach.CALLED, "calls refund"),
        (Reach.REPEATED, "calls refund more than once"),
        (Reach.RAN, "enters refund"),
    ],
)
def test_what_hangs_on_the_run_is_unknown_until_the_original_ran(reach: Reach, said: str) -> None:
    found = told(a_mutant(reach, "refund"))
    assert found == (False, f"whether the original {said} there is unknown until it has run it")


def test_documents_and_conversations_are_known_from_the_scenario() -> None:
    assert told(a_mutant(Reach.CARRIED, "all.md")) == (True, "carries all.md")
    assert told(a_mutant(Reach.CARRIED, "prices.md")) is None
    assert told(a_mutant(Reach.CONVERSED)) is None
    assert told(a_mutant(Reach.CONVERSED), TALK) == (True, "has more than one turn")


def test_two_at_once_reach_where_either_does() -> None:
    def pair(*parts: Mutant) -> Mutant:
        return a_mutant(Reach.SENT).model_copy(update={"parts": parts})

    called, unseen = a_mutant(Reach.CALLED, "refund"), a_mutant(Reach.CARRIED, "prices.md")
    found = told(pair(called, a_mutant(Reach.SENT)))
    assert found and found.certain
    found = told(pair(called, unseen))
    assert found and not found.certain
    assert told(pair(unseen)) is None
