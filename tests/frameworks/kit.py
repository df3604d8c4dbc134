"""What every framework's agents are put through: the conformance kit, and what it found in docs/frameworks.md."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentmut.conformance.adapters.mutant_arrival import Support
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import OperatorClass
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.testing import check_adapter

FOUND = Path(__file__).parent / "support"
"""What the kit found, one file a framework; docs/frameworks.md is made of them."""
RECORD = "AGENTMUT_RECORD_SUPPORT"
"""Set by `make frameworks`, which makes the files anew."""
AT_ONCE = 30
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take five days. Gifts are final."),))


@dataclass(frozen=True)
class Case:
    """An agent of a framework, and what it is asked."""

    framework: str
    """The name of the adapter."""
    name: str
    """`two tools`, or what kind of a team it is."""
    factory: str
    turns: Sequence[JsonValue]
    expect_tools: Sequence[str]
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    config: AgentConfig = field(default_factory=AgentConfig)
    route: str | None = None
    limit: int | None = None
    """Of the steps of a run, in the framework's terms: the half of it is too few, so that the limit is met."""
    except_for: Mapping[str, str] = field(default_factory=dict)
    at_once: int = AT_ONCE
    """How many runs have to stay apart; fewer where each starts a program."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the agent section, such as `functions`; `factory` is empty where it is none of them."""

    def adapter(self) -> Adapter:
        """The adapter of a fresh project with this agent."""
        spec = AgentSpec(
            adapter=self.framework, factory=self.factory or None, options=dict(self.options), **self.others
        )
        kind: type[Adapter] = load(Group.ADAPTERS, self.framework)
        limit = {"max_steps": self.limit} if self.limit else {}
        flow = {**self.config.orchestration, **limit}
        return kind.create(spec, self.config.model_copy(update={"orchestration": flow}))


def two_tools(framework: str, factory: str) -> Case:
    """A desk with two tools and a document, which is asked twice."""
    turns = ["Where is my order A-1042?", "And where is my order A-1043?"]
    return Case(framework, "two tools", factory, turns, ["look_up_order"], config=POLICY, limit=3)


def check(case: Case) -> None:
    """Put the agent through the kit; what arrives of mutants has to be what the documentation says."""
    found = check_adapter(
        case.adapter,
        turns=case.turns,
        expect_tools=case.expect_tools,
        except_for=dict(case.except_for),
        at_once=case.at_once,
    )
    flow = found[OperatorClass.ORCHESTRATION]
    assert flow.delivered or not flow.not_met, (
        f"{flow.not_met} made no difference to a run: give the case a limit"
    )
    _compare(case, {name: _row(one) for name, one in found.items()})


def _row(found: Support) -> dict[str, JsonValue]:
    return {
        "delivered": list(found.delivered),
        "not_met": list(found.not_met),
        "refused": dict(found.refused),
    }


def _compare(case: Case, found: dict[str, dict[str, JsonValue]]) -> None:
    path = FOUND / f"{case.framework}.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if os.environ.get(RECORD):
        known[case.name] = found
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(dict(sorted(known.items())), indent=1, sort_keys=True) + "\n", "utf-8")
    assert known.get(case.name) == json.loads(json.dumps(found)), f"{path.name} is stale: make frameworks"
