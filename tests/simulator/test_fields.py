"""The simulator speaks DSPy's fields. The prompts are what DSPy 3 writes; its real loop runs in test_libraries.py."""

import json
import xml.etree.ElementTree as ET

import pytest

from agentmut.nouns.messages import Message, ModelRequest, Role
from agentmut.simulator.service.service import _in_its_form

SORT = """Your input fields are:
1. `request` (str):
Your output fields are:
1. `reasoning` (str): 
2. `topic` (Literal['billing', 'delivery']): 
3. `urgent` (bool): 
4. `stars` (int): 
5. `people` (list[Person]): 
6. `reply` (str):
All interactions will be structured in the following way, with the appropriate values filled in.

[[ ## request ## ]]
{request}

[[ ## topic ## ]]
{topic}        # note: the value you produce must exactly match (no extra characters) one of: billing; delivery

[[ ## urgent ## ]]
{urgent}        # note: the value you produce must be True or False

[[ ## stars ## ]]
{stars}        # note: the value you produce must be a single int value

[[ ## people ## ]]
{people}        # note: the value you produce must adhere to the JSON schema: PEOPLE

[[ ## completed ## ]]
In adhering to this structure, your objective is: 
        Sort the request. Always say "Thank you!".
"""  # noqa: W291 - so DSPy writes it
PERSON = {"type": "object", "properties": {"vip": {"type": "boolean"}}, "required": ["vip"]}
SORT = SORT.replace("PEOPLE", json.dumps({"type": "array", "items": PERSON, "minItems": 1}))
ASKED = """[[ ## request ## ]]
My delivery is late, it is urgent

Respond with the corresponding output fields, starting with the field `[[ ## reasoning ## ]]`, and then ending with"""
AS_JSON = (
    ASKED.partition("Respond")[0]
    + "Respond with a JSON object in the following order of fields: `reasoning`."
)
LOOP = """Your input fields are:
1. `request` (str): 
2. `trajectory` (str):
Your output fields are:
1. `next_thought` (str): 
2. `next_tool_name` (Literal['look_up_order', 'finish']): 
3. `next_tool_args` (dict[str, Any]):
All interactions will be structured in the following way, with the appropriate values filled in.

[[ ## completed ## ]]
In adhering to this structure, your objective is: 
        You help customers. Always look up the order before you answer.
        
        You are an Agent. In each episode, you will be given the fields `request` as input.
        When selecting the next_tool_name and its next_tool_args, the tool must be one of:
        
        (1) look_up_order, whose description is <desc>Look up an order.</desc>. It takes arguments ARGUMENTS.
        (2) finish, whose description is <desc>Marks the task as complete.</desc>. It takes arguments {}.
"""  # noqa: W291, W293
LOOP = LOOP.replace("ARGUMENTS", "{'order_id': {'type': 'string'}}")
WHERE = "[[ ## request ## ]]\nWhere is my order A-1042?\n\n[[ ## trajectory ## ]]\n"
TRAJECTORY = """[[ ## thought_0 ## ]]
I look.

[[ ## tool_name_0 ## ]]
look_up_order

[[ ## tool_args_0 ## ]]
{"order_id": "A-1042"}

[[ ## observation_0 ## ]]
A-1042 was delivered on Monday.
"""
ANSWER = "\n\nRespond with the corresponding output fields, starting with"


def said(system: str, user: str, **more: int) -> str:
    messages = (Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text=user))
    return _in_its_form(ModelRequest(model="sim-large", messages=messages, **more), seed=1, trial="t").text


def fields(text: str) -> dict[str, str]:
    parts = [part.partition(" ## ]]\n") for part in text.split("[[ ## ")[1:]]
    return {name: value.strip() for name, _, value in parts}


def test_each_field_has_its_type_in_the_form_that_the_adapter_parses() -> None:
    found = fields(said(SORT, ASKED))
    assert [*found] == ["reasoning", "topic", "urgent", "stars", "people", "reply", "completed ## ]]"]
    assert (found["topic"], found["urgent"]) == ("delivery", "True")
    assert isinstance(json.loads(found["stars"]), int)
    assert [*json.loads(found["people"])[0]] == ["vip"]
    assert "Thank you!" in found["reply"]
    told = json.loads(said(SORT, AS_JSON))
    assert told == {
        "reasoning": found["reasoning"],
        "topic": "delivery",
        "urgent": True,
        "stars": json.loads(found["stars"]),
        "people": json.loads(found["people"]),
        "reply": found["reply"],
    }


def test_a_loop_calls_its_tool_and_ends_with_what_it_found() -> None:
    first = fields(said(LOOP, WHERE + ANSWER))
    assert first["next_tool_name"] == "look_up_order"
    assert json.loads(first["next_tool_args"]) == {"order_id": "A-1042"}
    second = fields(said(LOOP, WHERE + TRAJECTORY + ANSWER))
    assert (second["next_tool_name"], second["next_tool_args"]) == ("finish", "{}")


def test_an_answer_after_a_loop_tells_of_its_results() -> None:
    assert "delivered on Monday" in fields(said(SORT, WHERE + TRAJECTORY + ANSWER))["reply"]


def test_a_limit_of_tokens_cuts_the_fields() -> None:
    assert "completed" not in said(SORT, ASKED, max_tokens=10)


@pytest.mark.parametrize("damaged", ["{'order_id': ", "[]", "{1: " + "[" * 3_000])
def test_a_description_that_cannot_be_read_breaks_nothing(damaged: str) -> None:
    system = LOOP.replace("{'order_id': {'type': 'string'}}", damaged)
    assert "next_tool_name" in fields(said(system, WHERE + ANSWER))


IN_XML = """Your input fields are:
1. `request` (str):
Your output fields are:
1. `reasoning` (str): 
2. `topic` (Literal['billing', 'delivery']): 
3. `urgent` (bool): 
4. `people` (list[Person]): 
5. `names` (list[str]): 
6. `counts` (dict[str, int]): 
7. `reply` (str):
All interactions will be structured in the following way, with the appropriate values filled in.

<request>
{request}
</request>

<topic>
{topic}        # note: the value you produce must exactly match (no extra characters) one of: billing; delivery
</topic>

<urgent>
{urgent}        # note: the value you produce must be True or False
</urgent>

<people><item><name>...</name><vip>...</vip></item></people>

<names><item>...</item></names>

<counts>...</counts>

<reply>
{reply}
</reply>
In adhering to this structure, your objective is: 
        Sort the request. Always say "Thank you & <3!".
"""  # noqa: W291 - so DSPy writes it
ASKED_IN_XML = """<request>
My delivery is late & it is <b>urgent</b>
</request>

Respond with the corresponding output fields wrapped in XML tags `<reasoning>`, then `<topic>`. Use this nested XML"""


def test_fields_in_xml_are_elements_with_the_structure_that_is_shown() -> None:
    root = ET.fromstring(f"<all>{said(IN_XML, ASKED_IN_XML)}</all>")
    told = {child.tag: child for child in root}
    assert [*told] == ["reasoning", "topic", "urgent", "people", "names", "counts", "reply"]
    assert [(told[name].text or "").strip() for name in ("topic", "urgent")] == ["delivery", "True"]
    for person in told["people"]:
        assert [(part.tag, part.text) for part in person] == [("name", "1"), ("vip", "1")]
    assert {item.tag for item in told["names"]} <= {"item"}
    assert (told["counts"].text or "").strip() == "{}"
    assert "Thank you & <3!" in (told["reply"].text or "")


def test_a_loop_in_xml_calls_its_tool_and_ends_with_what_it_found() -> None:
    system = LOOP.replace("[[ ## completed ## ]]", "<next_tool_args>...</next_tool_args>")
    asked = "\n\nRespond with the corresponding output fields wrapped in XML tags `<next_thought>`."
    where = "<request>\nWhere is my order A-1042?\n</request>\n\n<trajectory>\nSTEPS\n</trajectory>" + asked
    told = ET.fromstring(f"<all>{said(system, where.replace('STEPS', ''))}</all>")
    assert (told.findtext("next_tool_name") or "").strip() == "look_up_order"
    assert json.loads(told.findtext("next_tool_args") or "") == {"order_id": "A-1042"}
    found = {
        "tool_name_0": "look_up_order",
        "tool_args_0": '{"order_id": "A-1042"}',
        "observation_0": "It came.",
    }
    steps = "\n\n".join(f"<{name}>\n{value}\n</{name}>" for name, value in found.items())
    after = ET.fromstring(f"<all>{said(system, where.replace('STEPS', steps))}</all>")
    assert (after.findtext("next_tool_name") or "").strip() == "finish"


IN_ELEMENTS = """Your input fields are:
1. `request` (str):
Your output fields are:
1. `mood` (Mood): 
2. `moods` (list[Mood]): 
3. `kinds` (list[Literal['new', 'old']]): 
4. `people` (list[Person]):
All interactions will be structured in the following way, with the appropriate values filled in.

<mood>
{mood}        # note: the value you produce must be one of: glad; sad
</mood>

<moods><item>...</item></moods>

<kinds><item>...</item></kinds>

<people><item><mood>...</mood><home><floor>...</floor></home></item></people>
In adhering to this structure, your objective is: 
        Sort.
"""  # noqa: W291 - so DSPy writes it


def test_elements_of_a_known_type_or_name_have_its_words() -> None:
    asked = "<request>\nIt is late\n</request>\n\nRespond with the corresponding output fields wrapped in XML tags."
    root = ET.fromstring(f"<root>{said(IN_ELEMENTS, asked)}</root>")
    for path in ("mood", "moods/item", "people/item/mood"):
        assert {(one.text or "").strip() for one in root.findall(path)} <= {"glad", "sad"}, path
        assert root.findall(path)
    assert {one.text for one in root.findall("kinds/item")} <= {"new", "old"}
    assert [one.text for one in root.findall("people/item/home/floor")] == ["1"]  # of any type
