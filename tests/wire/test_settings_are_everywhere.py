"""A setting of a model that is forgotten somewhere would make its mutants look as if they had not arrived."""

from agentmut.nouns.config import SAMPLING, AgentConfig, ModelConfig
from agentmut.nouns.footprints import RequestShape, footprint
from agentmut.nouns.messages import Exchange, ModelRequest
from agentmut.project.recorded_request import config_of

ALL = {
    "temperature": 0.5, "top_p": 0.25, "max_tokens": 7, "seed": 3, "stop": ("END",), "reasoning_effort": "low",
    "tool_choice": "none", "response_format": {"type": "json_object"},
}  # fmt: skip


def test_every_setting_is_one_of_requests_and_of_their_footprints() -> None:
    assert set(ALL) == set(SAMPLING)
    assert set(SAMPLING) <= set(ModelRequest.model_fields) & set(RequestShape.model_fields)


def test_every_setting_is_kept_from_request_to_footprint_and_config() -> None:
    request = ModelRequest(model="m", messages=(), **ALL)
    (shape,) = footprint([Exchange(request, None, 200, None, 0.0, 0.1)]).requests
    assert {name: getattr(shape, name) for name in SAMPLING} == ALL
    assert config_of(request) == AgentConfig(model=ModelConfig(name="m", **ALL))
