"""Probes: how one edit shows in model requests, with one probe for each kind of part."""

from collections.abc import Sequence

from agentmut.nouns import AgentConfig, Edit
from agentmut.trial.witness.probes.model import model_probe
from agentmut.trial.witness.probes.probe import OrderProbe, Probe
from agentmut.trial.witness.probes.texts import TextProbe, text_probe
from agentmut.trial.witness.probes.tools import tool_probe


def probe_for(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> Probe:
    """Return the probe of one of the `edits` that turn `base` into `mutated`."""
    if edit.part == "tools":
        return tool_probe(edit, edits, base, mutated)
    if edit.part == "model":
        return model_probe(edit, base)
    return text_probe(edit, edits, base, mutated)


__all__ = ["OrderProbe", "Probe", "TextProbe", "probe_for"]
