"""Whether mutants can reach an agent: by building it anew, on the wire, or both; part by part."""

from agentmut.doctor.examination import Examination, before_running, examine, plan_of

__all__ = ["Examination", "before_running", "examine", "plan_of"]
