"""Offsets as lines and columns."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.text_position import position


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="ab\r\n", max_size=30), st.data())
def test_line_and_column_lead_back_to_the_offset(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    line, column = position(text, offset)
    before = text.split("\n")[: line - 1]
    assert sum(len(one) + 1 for one in before) + column - 1 == offset
    assert "\n" not in text[offset - column + 1 : offset]


def test_many_places_in_a_long_text_are_found_quickly() -> None:
    text = "- Be kind.\n" * 100_000
    began = time.process_time()
    assert position(text, len(text) - 1) == (100_000, 11)
    assert all(position(text, offset).line for offset in range(0, len(text), 11))
    assert time.process_time() - began < 2
