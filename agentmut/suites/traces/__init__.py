"""Recorded runs of another tool as a suite: each case is a scenario, and each recorded run one of its trials."""
