"""What the simulated model answers keeps the schema that a request gives, in every dialect."""

import json
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from agentmut.nouns.messages import Message, ModelRequest, Role
from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.mind.behave import reply
from agentmut.simulator.mind.fitting import fitted
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.wire import all_codecs

PERSON: Any = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "vip": {"type": "boolean"}, "boss": {"$ref": "#/$defs/Boss"}},
    "required": ["name", "vip", "boss"],
    "additionalProperties": False,
}
TICKET: Any = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "urgent": {"type": "boolean"},
        "topic": {"enum": ["billing", "delivery"]},
        "order_id": {"type": "string", "description": "Number such as A-1042"},
        "customer": {"$ref": "#/$defs/Person"},
        "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        "tags": {"type": "array", "items": {"enum": ["new", "old"]}, "minItems": 2},
    },
    "required": ["summary", "urgent", "topic", "order_id", "customer", "stars", "tags"],
    "additionalProperties": False,
    "$defs": {
        "Person": PERSON,
        "Boss": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Person"}]},
    },
}
ASKED = "It is urgent: the delivery of my order A-1042 is late."
TOOL = ToolSpec(name="file_ticket", description="File a ticket.", parameters=TICKET)


@pytest.fixture(scope="module")
def url() -> Any:
    with Simulator(read_settings(seed=1)) as running:
        yield running.openai_base_url.removesuffix("/v1")


def asked(**more: Any) -> ModelRequest:
    said = (Message(role=Role.SYSTEM, text="You sort requests."), Message(role=Role.USER, text=ASKED))
    return ModelRequest(model="sim-large", messages=said, max_tokens=2_000, **more)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_answers_and_demanded_calls_keep_the_schema_in_every_dialect(
    codec: Any, stream: bool, url: str
) -> None:
    def answered(request: ModelRequest) -> Any:
        call = codec.encode_request(request)
        return codec.decode_reply(httpx2.post(url + call.path, content=call.body).content)

    form = {"type": "json_schema", "json_schema": {"name": "ticket", "schema": TICKET}}
    named = {"type": "function", "function": {"name": "file_ticket"}}
    found = []
    if codec.name != "ollama_chat":  # it has no tool choice
        call = answered(asked(tools=(TOOL,), tool_choice=named, stream=stream)).tool_calls[0]
        found.append(json.loads(call.arguments))
    if codec.name != "invoke_model":  # its bodies have no word for a form
        found.append(json.loads(answered(asked(response_format=form, stream=stream)).text))
    for ticket in found:
        Draft202012Validator(TICKET).validate(ticket)
        assert ticket["order_id"] == "A-1042"
        assert (ticket["topic"], ticket["urgent"], ticket["customer"]["boss"]) == ("delivery", True, None)


class Verdict(BaseModel):
    is_about_homework: bool
    reasoning: str
    confidence: float = Field(ge=0.5, le=1)


@pytest.mark.parametrize(
    ("said", "is_homework"), [("Help me with my homework.", True), ("A table for two.", False)]
)
def test_a_guardrail_is_answered_with_what_the_user_speaks_of(said: str, is_homework: bool) -> None:
    schema = Verdict.model_json_schema()
    form = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}
    messages = (Message(role=Role.SYSTEM, text="Is it homework?"), Message(role=Role.USER, text=said))
    request = ModelRequest(model="sim-large", messages=messages, response_format=form)
    for trial in range(20):
        verdict = Verdict.model_validate_json(reply(request, seed=0, trial=str(trial)).text)
        assert verdict.is_about_homework is is_homework
        assert len(verdict.reasoning) > 5


def test_the_tool_that_takes_the_answer_is_called_once_nothing_else_is_left_to_do() -> None:
    final = ToolSpec(
        name="final_result",
        description="The final response which ends this conversation",
        parameters={"properties": {"answer": {"type": "string"}}, "required": ["answer"], "type": "object"},
    )
    look = ToolSpec(name="read_weather", description="Read the weather.", parameters={"type": "object"})
    request = asked(tools=(look, final), tool_choice="required")
    call = reply(request, seed=0).tool_calls[0]
    assert call.name == "final_result"
    assert "no information" in json.loads(call.arguments)["answer"]


def test_agents_with_other_instructions_have_other_ids_for_the_same_words() -> None:
    named = {"type": "function", "function": {"name": "file_ticket"}}
    one = asked(tools=(TOOL,), tool_choice=named)
    other = one.model_copy(
        update={"messages": (Message(role=Role.SYSTEM, text="You file them."), *one.messages[1:])}
    )
    ids = [reply(request, seed=0, trial="t").tool_calls[0].id for request in (one, one, other)]
    assert ids[0] == ids[1] != ids[2]


def test_a_schema_that_contains_itself_ends() -> None:
    node = {
        "properties": {"next": {"$ref": "#/$defs/Node"}, "more": {"$ref": "#"}},
        "required": ["next", "more"],
    }
    made = fitted({**node, "$defs": {"Node": node}}, None, lambda name, schema: None)
    assert set(made) == {"next", "more"}


# Schemas as people and pydantic write them: what a value can be made of is what the validator demands.
words = st.text("abc", max_size=5)
small = st.integers(0, 9)
scalars = (
    st.just({"type": "string"})
    | st.builds(lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more}, small, small)
    | st.just({"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"})
    | st.just({"type": "boolean"})
    | st.just({"type": "null"})
    | st.just({"type": ["integer", "null"]})
    | st.builds(
        lambda low, more: {"type": "integer", "minimum": low - 5, "maximum": low + more}, small, small
    )
    | st.builds(lambda low: {"type": "number", "exclusiveMinimum": low - 5}, small)
    | st.builds(lambda step: {"type": "integer", "multipleOf": step + 1}, small)
    | st.lists(words | small | st.booleans() | st.none(), min_size=1, max_size=3).map(lambda of: {"enum": of})
    | words.map(lambda one: {"const": one})
    | st.just({"$ref": "#/$defs/Lamp"})
)


def objects(inner: Any) -> Any:
    def built(properties: dict[str, Any], needed: list[str], closed: bool) -> Any:
        required = [key for key in needed if key in properties]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": not closed,
        }

    return st.builds(
        built, st.dictionaries(words, inner, max_size=3), st.lists(words, max_size=3), st.booleans()
    )


def arrays(inner: Any) -> Any:
    return st.builds(
        lambda items, low, more: {"type": "array", "items": items, "minItems": low, "maxItems": low + more},
        inner,
        st.integers(0, 2),
        st.integers(0, 2),
    )


schemas = st.recursive(
    scalars,
    lambda inner: (
        objects(inner) | arrays(inner) | st.lists(inner, min_size=1, max_size=3).map(lambda of: {"anyOf": of})
    ),
    max_leaves=8,
)
LAMP = {
    "type": "object",
    "properties": {"on": {"type": "boolean"}, "bulb": {"$ref": "#/$defs/Bulb"}},
    "required": ["on", "bulb"],
}
DEFS = {"Lamp": LAMP, "Bulb": {"enum": ["warm", "cold"]}}
values = st.recursive(
    st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.nested_given])
@given(schemas, st.none() | values, st.none() | values)
def test_whatever_is_known_a_value_keeps_its_schema_and_one_that_does_stays(
    schema: Any, proposed: Any, known: Any
) -> None:
    whole = {**schema, "$defs": DEFS}
    made = fitted(whole, proposed, lambda name, node: known)
    validator = Draft202012Validator(whole)
    validator.validate(made)
    if proposed is not None and validator.is_valid(proposed):
        assert made == proposed
