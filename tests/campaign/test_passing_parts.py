"""Parts that no agent has: the transcript and faults of replies are changed on the wire, whatever the route."""

from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns import AgentConfig, ReplyFault, Transcript
from agentmut.seams import AgentSpec
from agentmut.trial.on_wire import OnWire, as_mutant

BASE = AgentConfig(prompt="Be kind.")


def adapter() -> CallableAdapter:
    return CallableAdapter.create(
        AgentSpec(adapter="python", run="tests.campaign.test_passing_parts:run"), BASE
    )


def run(config: AgentConfig, text: str) -> str:
    return config.prompt + text


def test_an_agent_that_is_rebuilt_has_them_changed_where_its_requests_pass() -> None:
    config = BASE.model_copy(update={"prompt": "Be brief.", "transcript": Transcript.RULES_LOST})
    made = as_mutant(adapter(), BASE, config)
    assert isinstance(made, OnWire)
    assert made.agent.get_config() == BASE.model_copy(update={"prompt": "Be brief."})
    assert made.rewriter() is not None


def test_another_mutant_is_rebuilt_without_a_rewriter() -> None:
    made = as_mutant(adapter(), BASE, BASE.model_copy(update={"prompt": "Be brief."}))
    assert not isinstance(made, OnWire)


def test_on_the_wire_they_go_to_the_rewriter_too() -> None:
    wrapped = OnWire(adapter(), BASE)
    made = as_mutant(wrapped, BASE, BASE.model_copy(update={"reply": ReplyFault.ANSWER_CUT}))
    assert isinstance(made, OnWire) and made.rewriter() is not None
