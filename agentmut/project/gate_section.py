"""The section `gate` of `agentmut.yaml`: what a deployment has to show."""

from typing import Literal

from pydantic import Field

from agentmut.project.section import Section


class GateSettings(Section):
    """What `agentmut gate` requires before it says deploy."""

    verdict: bool = True
    """Require the suite's verdict on the agent: that of `agentmut test`, or else of the baseline of the
    latest campaign."""
    min_score: float | None = Field(default=None, ge=0, le=1)
    """The least lower bound of the mutation score."""
    min_coverage: float | None = Field(default=None, ge=0, le=1)
    """The least overall coverage; below it a person decides."""
    baseline: str | None = Field(default=None, min_length=1)
    """Name of a stored baseline: `agentmut baseline compare` with it must not say FAIL. It is also the name that
    `agentmut baseline save` and `compare` use when none is given."""
    max_usd: float | None = Field(default=None, ge=0)
    """US dollars that the evidence may have cost; above it a person decides."""
    max_minutes: float | None = Field(default=None, ge=0)
    """Minutes that the evidence may have taken; above it a person decides."""
    max_usd_per_run: float | None = Field(default=None, ge=0)
    """US dollars that one run of the agent may cost on average."""
    max_seconds_per_run: float | None = Field(default=None, ge=0)
    """Seconds that one run of the agent may take on average."""
    require: tuple[str, ...] = ()
    """Figures of reliability with their limits, such as `reliability.pass_hat_4 >= 0.2`; of `agentmut test`, or else
    of the unchanged agent in the latest campaign. Their intervals hold together at 95 %."""
    inconclusive: Literal["manual", "block", "deploy"] = "manual"
    """The decision if the evidence is not enough either way. No evidence at all is always `manual`."""
