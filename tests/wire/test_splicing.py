"""Changed texts in the bytes of a request: what does not change keeps every byte; what is doubtful is written anew."""

import json

import pytest

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.config import AgentConfig
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from agentmut.wire.rewriting.splicing import spliced

PROMPT = "Be kind.\nNever “shout” at anyone."
REWRITER = (AgentConfig(prompt=PROMPT), AgentConfig(prompt="Be kind."))


def sent(body: bytes) -> bytes:
    call = HttpCall("/v1/chat/completions", body)
    return ConfigRewriter(*REWRITER).request(ChatCompletions(), call).call.body


@pytest.mark.parametrize("ascii_alone", [True, False])
def test_only_the_changed_texts_bytes_differ(ascii_alone: bool) -> None:
    said = {
        "model": "m",
        "messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": "é"}],
    }
    written = json.dumps(said, indent=3, ensure_ascii=ascii_alone).replace('"m"', '"m" , "seed" : 1e2')
    old = json.dumps(PROMPT, ensure_ascii=ascii_alone)
    assert sent(written.encode()) == written.replace(old, '"Be kind."').encode()


def test_a_text_that_stands_twice_is_found_by_its_place() -> None:
    quoted = {"model": "m", "metadata": {"of": PROMPT}, "messages": [{"role": "system", "content": PROMPT}]}
    found = json.loads(sent(json.dumps(quoted).encode()))
    assert found == {
        "model": "m",
        "metadata": {"of": PROMPT},
        "messages": [{"role": "system", "content": "Be kind."}],
    }


def test_a_text_that_is_spelled_unusually_is_not_taken_for_another_that_is_not() -> None:
    odd = json.dumps(PROMPT).replace("B", "\\u0042")
    body = b'{"model":"m","metadata":{"of":%s},"messages":[{"role":"system","content":%s}]}'
    found = json.loads(sent(body % (json.dumps(PROMPT).encode(), odd.encode())))
    assert found["metadata"] == {"of": PROMPT} and found["messages"][0]["content"] == "Be kind."


def test_a_body_of_another_shape_is_not_spliced() -> None:
    assert spliced(b'{"a":["x"]}', {"a": ["x"]}, {"a": []}) is None
    assert spliced(b'{"a":1}', {"a": 1}, {"a": True}) is None
