"""Whether mutants can reach an agent: by building it anew, on the wire, or both; part by part."""

from agentmut.engine.doctor.examination import Examination, before_running, examine, plan_of
from agentmut.engine.doctor.findings import Arrival, Check, Delivered, Diagnosis, Part, Sent

__all__ = [
    "Arrival",
    "Check",
    "Delivered",
    "Diagnosis",
    "Examination",
    "Part",
    "Sent",
    "before_running",
    "examine",
    "plan_of",
]
