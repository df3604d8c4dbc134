"""Evaluators: (scenario, trace) -> pass or fail, with a reason."""
