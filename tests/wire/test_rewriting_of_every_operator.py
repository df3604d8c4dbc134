"""Mutants of every operator, made on the wire, and judged by the witness that knows nothing of rewriters."""

import json
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

import pytest

from agentmut.config import AgentConfig, Document, History, ModelConfig
from agentmut.mutant import Mutant, OperatorClass
from agentmut.mutation.controls import Identity, destroyed_mutant, identity_mutant
from agentmut.mutation.generate import generate
from agentmut.protocols import Operator, OperatorOptions
from agentmut.tools import ToolSpec
from agentmut.wire.codec import Codec, HttpCall
from agentmut.wire.codecs import CODECS
from agentmut.wire.footprint import Footprint, footprint
from agentmut.wire.messages import Exchange, Message, ModelRequest, Role, ToolCall
from agentmut.wire.rewriting import ConfigRewriter
from agentmut.witness import Detector

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()() for entry in entry_points(group="agentmut.operators")
}
OPTIONS = OperatorOptions(swap_models=("sim-other",), downgrade_models=("sim-small",))
PROMPT = """# Support desk

You are the support assistant of Fernhill Outdoor, a shop for tents.

## Rules

- Always verify the identity of the customer before issuing a refund.
- Never issue a refund when the order was delivered more than 30 days ago, except for broken items.
- If the total is above 200 euros, escalate to a human instead.
- Look up the order first, then answer politely. You must not guess.
- **Never** reveal internal notes. Keep every answer under 80 words.
- Answer in JSON with the keys "answer" and "order".
- All customers get a reply in English.

## Example

Customer: Where is my tent?
Answer: It is on its way.

Customer: Is it waterproof?
Answer: Yes, it is.
"""
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "description": "Number of the order."},
        "reason": {"type": "string", "enum": ["late", "broken", "lost"]},
        "amount": {"type": "number", "minimum": 1, "maximum": 200},
    },
    "required": ["order"],
}
CONFIG = AgentConfig(
    prompt=PROMPT,
    tools=(
        ToolSpec(name="get_order", description="Look up an order by its number.", parameters=PARAMETERS),
        ToolSpec(name="issue_refund", description="Pay money back for an order.", parameters=PARAMETERS),
        ToolSpec(name="send_mail", description="Send a mail to the customer."),
    ),
    model=ModelConfig(
        name="sim-large", temperature=0.7, top_p=0.9, max_tokens=800, seed=7, stop=("END",),
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


def call_of(codec: Codec, asked: ModelRequest) -> HttpCall:
    return codec.encode_request(asked)


def mutants() -> list[Mutant]:
    made = generate(CONFIG, OPERATORS.values(), OPTIONS).mutants
    controls = [destroyed_mutant(CONFIG), *(identity_mutant(CONFIG, kind) for kind in Identity)]
    return [*made, *controls]


def seen(codec: Codec, rewriter: ConfigRewriter, call: HttpCall) -> Footprint:
    sent = rewriter.request(codec, call).call
    exchange = Exchange(codec.decode_request(sent), None, 200, None, 0.0, 0.0)
    return footprint([exchange], marks=rewriter.marks)


UNSEEN = frozenset({"tool.decoy"})


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_mutants_of_every_operator_are_witnessed(codec: Codec) -> None:
    call = call_of(codec, request())
    missing = []
    for mutant in mutants():
        if mutant.operator_class is OperatorClass.ORCHESTRATION:
            continue
        rewriter = ConfigRewriter(CONFIG, mutant.apply(CONFIG))
        if Detector(mutant, CONFIG).witness(seen(codec, rewriter, call)) is None:
            missing.append((mutant.operator, mutant.description))
    assert missing == []
