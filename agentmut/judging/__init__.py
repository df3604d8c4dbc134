"""Judging runs: evaluators, contracts, model judges, and facts that two runs share."""
