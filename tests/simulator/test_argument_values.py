"""Where the simulated model takes the values of arguments from: quotations, addresses, moments, results."""

from typing import Any

import pytest

from agentmut.nouns.tools import ToolSpec

TEXT = {"type": "string"}
MOMENT = {"type": "string", "description": "When it opens, in format YYYY-MM-DD HH:MM"}
DAY = {"type": "string", "description": "In format YYYY-MM-DD"}
PEOPLE = {"type": "array", "items": TEXT, "description": "The email addresses of the guests"}


def tool(name: str, description: str, **parameters: Any) -> ToolSpec:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return ToolSpec(name=name, description=description, parameters=schema)


@pytest.mark.parametrize(
    ("offered", "said", "filled"),
    [
        (tool("play_song", "Play a song.", song=TEXT), "Play the song 'Blue Moon' now.", {"song": "Blue Moon"}),
        (tool("print_page", "Print a page.", url=TEXT), "Print the page www.oak.org/a.", {"url": "www.oak.org/a"}),
        (tool("open_gate", "Open the gate.", start=MOMENT), "Open the gate on 2031-05-02 at 09:30.",
         {"start": "2031-05-02 09:30"}),
        (tool("show_menu", "Show the menu.", day=DAY), "Show the menu of 2031-05-02.", {"day": "2031-05-02"}),
        (tool("invite_guests", "Invite guests.", guests=PEOPLE), "Invite the guests a@oak.org and b@oak.org.",
         {"guests": ["a@oak.org", "b@oak.org"]}),
        (tool("find_tours", "Find tours.", query=TEXT), "Find the tours called 'Old Mill'.", {"query": "Old Mill"}),
    ],
)  # fmt: skip
def test_a_value_is_taken_from_what_the_user_says(
    converse: Any, offered: ToolSpec, said: str, filled: dict[str, Any]
) -> None:
    assert converse("You help.", said, tools=[offered]).calls == ((offered.name, filled),)


def test_the_id_of_a_thing_is_taken_from_the_result_that_tells_of_it(converse: Any) -> None:
    find = tool("find_tour", "Find a tour.", query=TEXT)
    cancel = tool(
        "cancel_tour", "Cancel the tour.", tour_id={"type": "string", "description": "ID of the tour"}
    )
    rule = "Always find the tour before you cancel a tour."
    talk = converse(
        rule,
        "Cancel the tour 'Old Mill' of 2031-05-02.",
        tools=[find, cancel],
        results={"find_tour": [{"id": "T7", "title": "Old Mill"}]},
    )
    assert talk.calls[-1] == ("cancel_tour", {"tour_id": "T7"})  # the date is no id
