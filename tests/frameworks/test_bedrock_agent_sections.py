"""What a section about an agent of Bedrock gets wrong, and what the installed boto3 lacks, is said at once."""

import os
from typing import Any

import pytest

from agentmut._base.errors import AdapterError, UsageError
from agentmut.adapters.bedrock_agents import BedrockAgentsAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import read_tool
from agentmut.seams.protocols.adapter import AgentSpec
from tests.frameworks.bedrock_runs import CONFIG, DESK, KEYS, TEMPLATE, deployed, ran
from tests.frameworks.kit import Case
from tests.frameworks.order_tools import PROMPT

pytestmark = pytest.mark.framework
pytest.importorskip("boto3", reason="boto3 is not installed")


def by_object(thing: dict[str, str]) -> str:
    return "never"


NESTED = (by_object,)


@pytest.mark.parametrize(
    ("options", "config", "said"),
    [
        ({}, CONFIG, "needs `inline: true`, or `agent_id`"),
        ({"inline": True, "agent_id": "A"}, CONFIG, "needs `inline: true`, or `agent_id`"),
        ({"agent_id": "A"}, CONFIG, "alias_id is missing"),
        ({"inline": True, "regoin": "x"}, CONFIG, "Did you mean 'region'"),
        ({"inline": True, "region": 3}, CONFIG, "expected a text, found 3"),
        ({"inline": True, "session_state": "x"}, CONFIG, "expected a mapping"),
        ({"inline": True, "call": {"instruction": "x"}}, CONFIG, "instruction is set by agentmut"),
        ({"inline": "no"}, CONFIG, "inline: expected true or false, found 'no'"),
        ({"inline": True, "prompt_template": "none.txt"}, CONFIG, "none.txt cannot be read"),
        ({"inline": True}, AgentConfig(prompt=PROMPT), "model.name is missing"),
        (
            {"inline": True},
            CONFIG.model_copy(update={"model": ModelConfig(name="m", top_p=0.5)}),
            "prompt_template",
        ),
        (
            {"inline": True},
            CONFIG.model_copy(update={"model": ModelConfig(name="m", seed=1)}),
            "have no seed",
        ),
        (
            TEMPLATE,
            CONFIG.model_copy(update={"model": ModelConfig(name="m", temperature=1.5)}),
            "up to 1, not 1.5",
        ),
        (
            {"inline": True},
            CONFIG.model_copy(update={"tools": (read_tool(by_object),)}),
            "'thing' of 'by_object'",
        ),
    ],
)
def test_what_a_section_gets_wrong_is_said(options: Any, config: AgentConfig, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        BedrockAgentsAdapter.create(AgentSpec(adapter="bedrock_agents", options=options, **DESK), config)


@pytest.mark.parametrize("name", ["bedrock", "bedrock_agents"])
@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, r"requires the package boto3. Install it with: pip install 'agentmut\[bedrock\]'"),
        ("1.20.0", "made for boto3 1.40 and later, below 2.0; found 1.20.0"),
        ("2.1", "found 2.1.*through its model requests"),
    ],
)
def test_another_version_of_boto3_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, version: str | None, said: str
) -> None:
    found = {"boto3": version} if version else {}
    monkeypatch.setattr("agentmut.adapters._shared.sdk_version.version_of", lambda _: found)
    with pytest.raises(AdapterError, match=said):
        Case(name, "", "", [], [], others=DESK).adapter()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "no credentials.*AWS_SECRET_ACCESS_KEY.* not for its agents$"),
        (
            KEYS | {"AWS_REGION": "eu-central-1"},
            r"no region.*Set AWS_DEFAULT_REGION .*agent\.options\.region",
        ),
        ({"AWS_BEARER_TOKEN_BEDROCK": "x"}, "not for its agents$"),
        ({"AWS_PROFILE": "nobody"}, r"profile \(nobody\) could not be found$"),
        (KEYS | {"AWS_DEFAULT_REGION": "at home"}, "'at home' doesn't match a supported format"),
    ],
)
def test_what_a_client_lacks_is_said(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    for variable in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(AdapterError, match=said):
        ran(deployed(), "Hello")
