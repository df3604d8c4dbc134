"""LlamaIndex, with the simulator behind it, or a script where the model must not vary."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut._base.errors import AdapterError, AgentmutError, UsageError
from agentmut.nouns.config import AgentConfig, History, ModelConfig
from agentmut.nouns.messages import Role
from agentmut.nouns.mutant import Edit
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.recording.current import running
from agentmut.recording.threads import TrialThreads
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.frameworks.kit import POLICY, Case, check, two_tools

pytest.importorskip("llama_index.llms.openai_like", reason="LlamaIndex is not installed")
# workflows look at all of pydantic's attributes
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
AGENTS = "tests.frameworks.llama_index_agents"
ODD = "tests.frameworks.llama_index_odd_agents"
EXAMPLE = Path(__file__).parents[2] / "examples" / "llama_index"
TURNS = ["Where is my order A-1042?", "And where is my order A-1043?"]
ORDER = '{"order_id": "A-1"}'
CASES = (
    two_tools("llama_index", f"{AGENTS}:desk"),
    Case("llama_index", "ReAct", f"{AGENTS}:thinker", TURNS, ["look_up_order"], config=POLICY, limit=3),
    Case(
        "llama_index",
        "hand-off",
        f"{AGENTS}:team",
        ["I want a refund for my order A-1042."],
        ["look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


def adapter(factory: str, **options: JsonValue) -> Any:
    reference = factory if ":" in factory else f"{ODD}:{factory}"
    spec = AgentSpec(adapter="llama_index", factory=reference, options=options)
    return load(Group.ADAPTERS, "llama_index").create(spec, AgentConfig())


def changed(agent: Any, **parts: Any) -> Any:
    return agent.with_config(agent.get_config().model_copy(update=parts))


Run = Callable[..., AgentTrace]


@pytest.fixture
def run(service: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs an agent with the scripted service."""
    monkeypatch.setenv("OPENAI_API_BASE", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    async def ran(agent: Any, turns: tuple[str, ...], trial: Trial) -> AgentTrace:
        asyncio.get_running_loop().set_default_executor(TrialThreads())
        made = adapter(agent) if isinstance(agent, str) else agent
        with running(trial), Tap(all_codecs()).installed():
            trace: AgentTrace = await made.run(turns or ("Where is A-1?",), trial)
            return trace

    return lambda agent, *turns, trial=None: asyncio.run(ran(agent, turns, trial or Trial("one")))


# Tools.


def test_a_tool_that_is_given_the_context_still_is(run: Run, service: Any, calls: Any) -> None:
    service.replies(calls(("remember", ORDER)), "Done.", calls(("remember", ORDER), prefix="b"), "Done.")
    trace = run("with_context", "One.", "Two.")
    assert [step.output for step in trace.tool_calls] == [{"seen": 1}, {"seen": 2}]
    assert trace.tool_calls[0].arguments == {"order_id": "A-1"}
    assert list(service.requests[0].tools[0].parameters["properties"]) == ["order_id"]


def test_calls_are_told_apart_though_a_service_gives_their_ids_again(
    run: Run, service: Any, calls: Any
) -> None:
    service.replies(calls(("look_up_order", ORDER)), calls(("look_up_order", ORDER)), "Ok.")
    assert [step.call_id for step in run("plain").tool_calls] == ["call_0", "call_0"]


def test_tools_that_the_agent_has_later_are_no_mutants_affair(
    run: Run, service: Any, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.frameworks.llama_index_agents import issue_refund

    agent = adapter("growing")
    monkeypatch.setattr(f"{ODD}.LATER", [issue_refund])
    service.replies(calls(("issue_refund", '{"order_id": "A-1", "amount": 2}')), "Paid.")
    [step] = run(changed(agent, tools=())).tool_calls
    assert (step.tool, step.error, step.call_id) == ("issue_refund", None, "call_0")
    assert [tool.name for tool in service.requests[0].tools] == ["issue_refund", "look_up_order"]


def test_calls_of_one_reply_are_told_apart(run: Run, service: Any, calls: Any) -> None:
    other = '{"order_id": "A-2"}'
    service.replies(
        calls(("look_up_order", other), ("look_up_order", ORDER), ("look_up_order", ORDER)), "Ok."
    )
    made = [(step.call_id, step.arguments["order_id"]) for step in run("plain").tool_calls if step.arguments]
    assert sorted(made) == [("call_0", "A-2"), ("call_1", "A-1"), ("call_2", "A-1")]


@pytest.mark.parametrize(
    ("factory", "arguments", "said"),
    [
        ("failing", ORDER, "LookupError: no order A-1"),
        ("closed", '{"input": "A-1"}', "ToolError: A-1: closed"),
        ("plain", '{"number": "A-1"}', "TypeError"),
    ],
)
def test_what_a_tool_raises_or_says_is_an_error(
    run: Run, service: Any, calls: Any, factory: str, arguments: str, said: str
) -> None:
    service.replies(calls(("look_up_order", arguments)), "Sorry.")
    trace = run(factory)
    assert [said in (step.error or "") for step in trace.tool_calls] == [True]
    assert trace.output == "Sorry."


def test_a_call_of_a_tool_that_there_is_not_is_a_step_with_an_error(
    run: Run, service: Any, calls: Any
) -> None:
    service.replies(calls(("find", ORDER)), "Sorry.")
    [step] = run("plain").tool_calls
    assert (step.tool, step.call_id) == ("find", "call_0")
    assert "not found" in (step.error or "")


def test_the_result_of_a_tool_may_be_the_answer(run: Run, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up_order", ORDER)))
    assert run("direct_answer").output == "A-1 was delivered on Monday."


def test_callbacks_and_hidden_arguments_of_tools_are_kept(run: Run, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up_order", ORDER)), "Ok.")
    [step] = run("dressed").tool_calls
    assert (step.arguments, step.output) == ({"order_id": "A-1"}, "Found: A-1 of ours")
    assert [m.text for m in service.requests[1].messages if m.role is Role.TOOL] == ["Found: A-1 of ours"]


def test_a_renamed_tool_is_found(run: Run, service: Any, calls: Any) -> None:
    agent = adapter("plain")
    [tool] = agent.get_config().tools
    renamed = tool.model_copy(update={"name": "fetch", "implemented_by": tool.name})
    service.replies(calls(("fetch", ORDER)), "Ok.")
    trace = run(changed(agent, tools=(renamed,)), trial=Trial("renamed", tools={"fetch": renamed}))
    assert trace.tools_called == ("look_up_order",)
    assert trace.tool_calls[0].error is None
    assert [one.name for one in service.requests[0].tools] == ["fetch"]


def test_tools_of_a_retriever_are_traced_as_they_are(run: Run, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up_order", ORDER)), "Ok.")
    [step] = run("retrieving").tool_calls
    assert (step.tool, step.output, step.node) == ("look_up_order", "A-1 was delivered on Monday.", "desk")


# Runs.


def test_a_limit_of_steps_that_is_met_is_an_error(run: Run, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up_order", ORDER)))
    agent = changed(adapter("plain"), orchestration={"max_steps": 2})
    with pytest.raises(Exception, match="Max iterations of 2 reached"):
        run(agent)
    assert len(service.requests) == 2


def test_an_agent_may_answer_at_its_limit(run: Run, service: Any, calls: Any) -> None:
    from llama_index.core.agent.workflow import FunctionAgent

    if "early_stopping_method" not in FunctionAgent.model_fields:
        pytest.skip("this version of LlamaIndex always ends with an error")
    service.replies(calls(("look_up_order", ORDER)), "I have to stop.")
    assert run(changed(adapter("generating"), orchestration={"max_steps": 1})).output == "I have to stop."


def test_an_answer_may_be_structured(run: Run, service: Any) -> None:
    service.replies("Ok.")
    assert run("structured").output == {"messages": 2}


def test_a_run_that_waits_for_a_person_says_so(run: Run, service: Any, calls: Any) -> None:
    service.replies(calls(("ask_a_person", '{"question": "Well?"}')))
    with pytest.raises(RuntimeError, match=r"waits for a person to answer .InputRequiredEvent.*double"):
        run("waiting")


def test_history_with_swapped_speakers_is_told_to_a_fresh_context(run: Run, service: Any) -> None:
    run(changed(adapter("plain"), history=History.SWAPPED), "One.", "Two.")
    told = [(message.role, message.text) for message in service.requests[-1].messages[1:]]
    assert told == [(Role.ASSISTANT, "One."), (Role.USER, "Hello."), (Role.USER, "Two.")]


def test_an_agent_that_is_there_already_keeps_nothing(run: Run, service: Any, monkeypatch: Any) -> None:
    from tests.frameworks import llama_index_odd_agents as odd

    monkeypatch.setattr(odd, "KEPT", odd.plain())
    agent = adapter("KEPT")
    run(agent)
    run(changed(agent, prompt="Be brief."))
    run(agent)
    assert [len(request.messages) for request in service.requests] == [2, 2, 2]
    assert [request.system_text for request in service.requests] == ["You help.", "Be brief.", "You help."]


def test_a_factory_that_takes_the_config_is_given_it(run: Run, service: Any) -> None:
    run(changed(adapter("from_config"), prompt="Be brief."))
    assert service.requests[0].system_text == "Said by the factory: Be brief."


def test_a_hand_off_may_lead_elsewhere(run: Run, service: Any, calls: Any) -> None:
    agent = adapter(f"{AGENTS}:team")
    service.replies(calls(("handoff", '{"to_agent": "billing", "reason": "money"}')), "Hello.")
    handoffs = {"triage": {"billing": "shipping", "shipping": "shipping"}}
    trace = run(changed(agent, orchestration={"max_steps": 20, "handoffs": handoffs}))
    assert trace.edges == (("__start__", "triage"), ("triage", "shipping"), ("shipping", "__end__"))
    assert [step.tool for step in trace.tool_calls] == ["handoff"]
    assert {step.node for step in trace.steps if step.action is Action.REASON} == {"triage", "shipping"}


# What LlamaIndex would lose silently.


def test_a_react_agent_leaves_out_a_system_prompt_that_is_set_later(run: Run, service: Any) -> None:
    from tests.frameworks.llama_index_agents import thinker

    agent = thinker()
    agent.system_prompt = "Be brief."

    async def by_itself() -> None:
        await agent.run(user_msg="Hello.")

    asyncio.run(by_itself())
    assert "Be brief." not in service.requests[0].system_text
    run(changed(adapter(f"{AGENTS}:thinker"), prompt="Be brief."), "Hello.")
    assert "Be brief." in service.requests[1].system_text


def test_calls_in_plain_text_have_no_id(run: Run, service: Any) -> None:
    service.replies('Thought: Hm.\nAction: find\nAction Input: {"it": 1}', "Thought: So.\nAnswer: Ok.")
    [step] = run(f"{AGENTS}:thinker").tool_calls
    assert (step.tool, step.call_id) == ("find", None)  # LlamaIndex makes one up
    assert "not found" in (step.error or "")


def test_a_react_agent_may_lose_its_prompt(run: Run, service: Any) -> None:
    run(changed(adapter(f"{AGENTS}:thinker"), prompt=""), "Hello.")
    assert "You help customers" not in service.requests[0].system_text
    assert "> Tool Name: look_up_order" in service.requests[0].system_text


def test_reasoning_effort_is_read_where_it_is_sent(run: Run) -> None:
    assert adapter("known_to_openai").get_config().model.reasoning_effort is None
    assert adapter("thinking_hard").get_config().model.reasoning_effort == "high"


def test_settings_without_a_field_of_their_own_arrive(run: Run, service: Any) -> None:
    said = {"top_p": 0.5, "seed": 3, "stop": ("END",), "reasoning_effort": "low", "tool_choice": "none"}
    agent = adapter("plain")
    run(changed(agent, model=ModelConfig(**{**dict(agent.get_config().model), **said, "max_tokens": 9})))
    [sent] = service.requests
    assert {name: getattr(sent, name) for name in said} == said
    assert sent.max_tokens == 9


def test_a_model_that_its_client_does_not_know_is_told(run: Run, service: Any) -> None:
    agent = adapter("known_to_openai")
    with pytest.raises(AdapterError, match=r"OpenAI does not know the model 'own'.*OpenAILike.*route: wire"):
        run(changed(agent, model=agent.get_config().model.model_copy(update={"name": "own"})))


@pytest.mark.parametrize(
    ("factory", "setting", "said"),
    [
        ("plain", "temperature", "OpenAILike always sends a temperature"),
        ("of_no_service", "top_p", "MockLLM has no top_p that could be set"),
        ("deployed", "name", "an Azure client's address chooses the model"),
    ],
)
def test_settings_that_a_client_does_not_take_are_refused_with_a_way_out(
    factory: str, setting: str, said: str
) -> None:
    reason = adapter(factory).cannot_change(Edit(pointer=f"/model/{setting}", before=0.1, after=None))
    assert said in reason
    assert ("takes the config" if setting == "name" else "agent.route: wire") in reason


# What is refused.


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("of_another_kind", "returned a .*Other; expected a FunctionAgent.*route: wire"),
        ("in_code", "returned a .*CodeActAgent; expected a FunctionAgent.*route: wire"),
        ("with_code_among_them", "returned a .*AgentWorkflow; expected .*route: wire"),
        ("without_functions", "calls no functions; give OpenAILike is_chat_model=True"),
        ("in_pieces", "a async_generator, as a function does that streams; .*route: wire"),
        ("raising", "raised KeyError: 'API_TOKEN'"),
        ("no_such_factory", "no_such_factory"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_way_out(factory: str, said: str) -> None:
    with pytest.raises(AgentmutError, match=said):
        adapter(factory)


def test_the_agent_that_is_changed_must_be_in_the_workflow() -> None:
    assert adapter(f"{AGENTS}:team", agent="billing").get_config().prompt.startswith("You handle money")
    with pytest.raises(AdapterError, match=r"no agent 'biling'.*billing"):
        adapter(f"{AGENTS}:team", agent="biling")
    with pytest.raises(UsageError, match=r"agent\.options: unknown key 'member'"):
        adapter(f"{AGENTS}:team", member="billing")
