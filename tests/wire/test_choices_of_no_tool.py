"""A tool choice whose name is no text names no tool; `make fuzz` found that codecs raised TypeError there."""

import json
from contextlib import suppress

import pytest

from agentmut.conformance.codecs.codec_samples import REQUESTS
from agentmut.nouns.codec import Codec
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.places import all_places, with_values

WITHOUT = ("ollama_chat",)
"""Dialects that have no word for a tool choice."""


@pytest.mark.parametrize(
    "codec", [c for c in all_codecs() if c.name not in WITHOUT], ids=lambda codec: codec.name
)
@pytest.mark.parametrize("name", [{}, [], [["x"]], None, 1])
def test_tools_are_taken_out_beside_a_choice_of_anything(codec: Codec, name: object) -> None:
    body = json.loads(codec.encode_request(REQUESTS["tool_choice of one tool"]).body)
    chosen = [path for path in all_places(body) if "hoice" in str(path) or "alling" in str(path)]
    assert chosen
    for path in chosen:
        odd = with_values(body, {path: name})
        with suppress(ValueError):  # the one way in which a codec may refuse a body
            assert len(codec.tools(codec.with_tools(odd, codec.tools(odd)[:1]))) == 1
