"""What is said where LangGraph has its private parts elsewhere."""

from types import SimpleNamespace

import pytest

from agentmut._base.errors import AdapterError
from agentmut.adapters.langgraph.doubles import let_doubles_answer
from agentmut.adapters.langgraph.flow import reshape
from agentmut.nouns.flow import Flow

COMPLAINT = r"does not find .* in this version \(langgraph 1\..*made for langgraph 1\.2 and later of 1\.x"


def test_a_tool_node_without_the_known_hooks_names_the_supported_versions() -> None:
    with pytest.raises(AdapterError, match=COMPLAINT):
        let_doubles_answer(SimpleNamespace(tools_by_name={}))


def test_a_builder_without_the_known_defaults_names_the_supported_versions() -> None:
    builder = SimpleNamespace(nodes={}, edges=set(), waiting_edges=set(), branches={})
    before, after = Flow(edges=(("a", "b"),)), Flow()
    with pytest.raises(AdapterError, match=COMPLAINT):
        reshape(SimpleNamespace(builder=builder), before, after)
