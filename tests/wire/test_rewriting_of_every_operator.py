"""Mutants of every operator, made on the wire, and judged by the witness that knows nothing of rewriters."""

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import pytest

from agentmut.mutation.controls import Identity, destroyed_mutant, identity_mutant
from agentmut.mutation.generation import generate
from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.footprints import Footprint, footprint
from agentmut.nouns.messages import Exchange, Message, ModelRequest, Role, ToolCall
from agentmut.nouns.mutant import Mutant, OperatorClass
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.operator import OnDemand, Operator, OperatorOptions
from agentmut.trial.witness.witness import Detector
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from tests.support_desk import PROMPT

CHAT = ChatCompletions()
_ALL: dict[str, Operator] = {entry.name: entry.load()() for entry in entry_points(group="agentmut.operators")}
OPERATORS = {name: one for name, one in _ALL.items() if not isinstance(one, OnDemand)}
ON_DEMAND = {name: one for name, one in _ALL.items() if isinstance(one, OnDemand)}
OPTIONS = OperatorOptions(swap_models=("sim-other",), downgrade_models=("sim-small",))
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "description": "Number of the order."},
        "reason": {"type": "string", "enum": ["late", "broken", "lost"], "description": "Why it is asked."},
        "amount": {"type": "number", "minimum": 1, "maximum": 200},
        "wait": {"type": "integer", "description": "How long to wait, in days."},
    },
    "required": ["order"],
}
CONFIG = AgentConfig(
    prompt=PROMPT,
    tools=(
        ToolSpec(name="get_order", description="Look up an order by its number.", parameters=PARAMETERS),
        ToolSpec(name="refund_order", description="Pay money back for an order.", parameters=PARAMETERS),
        ToolSpec(name="send_mail", description="Send a mail to the customer."),
    ),
    model=ModelConfig(
        name="sim-large", temperature=0.7, top_p=0.9, max_tokens=800, seed=7,
        reasoning_effort="high", tool_choice="required", response_format={"type": "json_object"},
    ),
    context=(
        Document(
            name="refunds", text="# Refunds\n\nRefunds take 14 days. They cost 5 euros. Ask before you refund.\n"
        ),
        Document(name="shipping", text="Version 3 of 2024-05-01.\n\nShipping takes 3 days. It is free above 50 euros."),
    ),
    history=History.KEPT,
)  # fmt: skip


def calls(first: int) -> Iterator[Message]:
    """A call of every tool and its result."""
    for number, tool in enumerate(CONFIG.tools, first):
        call = ToolCall(id=f"call_{number}", name=tool.name, arguments='{"order": "A-1007"}')
        yield Message(role=Role.ASSISTANT, tool_calls=(call,))
        result = json.dumps({"order": f"A-{number}", "total": 10 * number, "items": ["tent", "stove"]})
        yield Message(role=Role.TOOL, text=result, tool_call_id=call.id)


def request(config: AgentConfig = CONFIG) -> ModelRequest:
    """What the agent asks in the second turn of a conversation, after every tool was called twice."""
    model = config.model
    settings = {
        name: getattr(model, name) for name in ModelConfig.model_fields if name not in ("name", "provider")
    }
    return ModelRequest(
        model=model.name,
        tools=config.tools,
        messages=(
            Message(role=Role.SYSTEM, text=config.system_text()),
            Message(role=Role.USER, text="Where is my order?"),
            Message(role=Role.ASSISTANT, text="On its way."),
            Message(role=Role.USER, text="And the other one?"),
            *calls(1),
            *calls(4),
        ),
        **settings,
    )


def all_mutants() -> Iterator[Mutant]:
    for operator in OPERATORS.values():  # one by one: some mutants of different operators are the same
        yield from generate(CONFIG, [operator], OPTIONS).mutants
    yield destroyed_mutant(CONFIG)
    yield from (identity_mutant(CONFIG, kind) for kind in Identity)


UNSAID = {
    "responses": {"model.drop_seed"},
    "anthropic_messages": {"model.drop_seed", "model.drop_response_format"},
    "converse": {"model.drop_seed", "model.drop_response_format"},
    "ollama_chat": {"model.drop_tool_choice"},
}
"""Operators that change a setting for which a dialect has no word."""


@cache
def mutants() -> list[Mutant]:
    """Those that requests show: the flow is the agent's own."""
    return [m for m in all_mutants() if m.operator_class is not OperatorClass.ORCHESTRATION]


def seen(codec: Codec, rewriter: ConfigRewriter, call: HttpCall) -> Footprint:
    sent = rewriter.request(codec, call).call
    exchange = Exchange(codec.decode_request(sent), None, 200, None, 0.0, 0.0)
    return footprint([exchange], marks=rewriter.marks)


def test_there_is_a_mutant_of_every_operator_but_those_of_the_flow() -> None:
    tried = {mutant.operator for mutant in mutants()}
    others = {id_ for id_ in OPERATORS if not id_.startswith("orchestration.")} - tried
    assert others == {"model.add_stop_sequence"}  # goes with no reasoning effort


def plain_footprint(codec: Codec, call: HttpCall) -> Footprint:
    """Of the original's request."""
    return footprint([Exchange(codec.decode_request(call), None, 200, None, 0.0, 0.0)])


def unseen(codec: Codec, call: HttpCall, base: AgentConfig, among: Iterable[Mutant]) -> set[str]:
    """Operators some mutant of which is not witnessed, by a witness that knows the original's request."""
    original = plain_footprint(codec, call)
    return {
        mutant.operator
        for mutant in among
        if Detector(mutant, base)
        .informed([original])
        .witness(seen(codec, ConfigRewriter(base, mutant.apply(base)), call))
        is None
    }


@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_mutants_of_every_operator_are_witnessed_in_every_dialect(codec: Codec) -> None:
    first = {mutant.operator: mutant for mutant in reversed(mutants())}
    call = codec.encode_request(request())
    unsaid = UNSAID.get(codec.name, set())
    assert unseen(codec, call, CONFIG, first.values()) == unsaid
    original = plain_footprint(codec, call)
    assert {n for n, m in first.items() if not Detector(m, CONFIG).carried(original)} == unsaid


@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_what_operators_on_demand_change_in_a_request_is_witnessed(codec: Codec) -> None:
    first: dict[str, Mutant] = {}
    for operator in ON_DEMAND.values():
        for mutant in generate(CONFIG, [operator], OPTIONS).mutants:
            if {edit.part for edit in mutant.edits} <= {"prompt", "tools", "model", "context"}:
                first.setdefault(mutant.operator, mutant)
    call = codec.encode_request(request())
    assert unseen(codec, call, CONFIG, first.values()) == set()


@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_a_stop_sequence_that_is_added_is_witnessed(codec: Codec) -> None:
    base = CONFIG.model_copy(update={"model": ModelConfig(name="sim-large")})
    mutants = generate(base, [OPERATORS["model.add_stop_sequence"]], OPTIONS).mutants
    no_stops = codec.name == "responses"  # the dialect has none
    assert bool(unseen(codec, codec.encode_request(request(base)), base, mutants)) == no_stops


def test_requests_of_mutants_are_those_of_agents_that_were_built_as_mutants() -> None:
    call = CHAT.encode_request(request())
    for mutant in mutants():
        after = mutant.apply(CONFIG)
        sent = CHAT.decode_request(ConfigRewriter(CONFIG, after).request(CHAT, call).call)
        built = CHAT.decode_request(CHAT.encode_request(request(after)))
        assert (sent.system_text, sent.tools) == (built.system_text, built.tools), mutant.description


Shape = Callable[[str], Any]
SHAPES: dict[str, tuple[Shape, set[str]]] = {
    "blocks": (
        lambda text: [{"type": "text", "text": part} for part in text.split("\n\n")],
        {
            "context.permute",
            "prompt.whitespace",
        },  # documents in parts have no places; white space between them
    ),
    "indented": (lambda text: textwrap.indent(text, "    "), {"prompt.whitespace"}),  # is written anew
    "without blank lines": (
        lambda text: "\n".join(line.strip() for line in text.splitlines() if line.strip()),
        {"prompt.whitespace"},
    ),
    "wrapped": (
        lambda text: "\n\n".join(textwrap.fill(part, 50) for part in text.split("\n\n")),
        {"prompt.whitespace"},
    ),
}


def shaped(base: AgentConfig, shape: Shape, role: str = "system") -> HttpCall:
    path, body = CHAT.encode_request(request(base))
    plain = json.loads(body)
    plain["messages"][0] = {"role": role, "content": shape(base.system_text())}
    return HttpCall(path, json.dumps(plain).encode())


@pytest.mark.parametrize("name", SHAPES)
def test_mutants_reach_an_agent_that_sends_its_prompt_in_another_shape(name: str) -> None:
    shape, unreached = SHAPES[name]
    assert unseen(CHAT, shaped(CONFIG, shape), CONFIG, texts_of(mutants())) == unreached


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_but_the_mutation_changes_in_another_shape(name: str) -> None:
    call = shaped(CONFIG, SHAPES[name][0])
    for mutant in texts_of(mutants()):
        if mutant.operator in SHAPES[name][1]:
            continue
        # documents in parts have no place
        if name == "blocks" and mutant.operator_class is OperatorClass.CONTEXT:
            continue
        after = mutant.apply(CONFIG)
        sent = CHAT.decode_request(ConfigRewriter(CONFIG, after).request(CHAT, call).call)
        assert "".join(sent.system_text.split()) == "".join(after.system_text().split()), mutant.description


def test_mutants_reach_an_agent_without_a_system_role() -> None:
    assert unseen(CHAT, shaped(CONFIG, str, "user"), CONFIG, texts_of(mutants())) == set()


FIELDS = {
    "{company}": "Fernhill Outdoor",
    "{{ limit }}": "200",
    "$who": "some customer",
    "{% if vip %}\n": "",
}


def test_mutants_reach_an_agent_that_renders_a_template() -> None:
    prompt = PROMPT.replace("Fernhill Outdoor", "{company}").replace("200", "{{ limit }}")
    prompt = (
        prompt.replace("the customer", "$who", 1).replace("## Example", "{% if vip %}\n## Example")
        + "{% endif %}\n"
    )
    base = CONFIG.model_copy(update={"prompt": prompt})

    def rendered(text: str) -> str:
        for field, value in {**FIELDS, "{% endif %}\n": ""}.items():
            text = text.replace(field, value)
        return text

    made = texts_of(generate(base, OPERATORS.values(), OPTIONS).mutants)
    assert unseen(CHAT, shaped(base, rendered), base, made) == {"prompt.whitespace"}  # at a statement's line


def texts_of(mutants: Iterable[Mutant]) -> list[Mutant]:
    return [m for m in mutants if m.operator_class in (OperatorClass.PROMPT, OperatorClass.CONTEXT)]
