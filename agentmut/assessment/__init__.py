"""The agent as it is, on every scenario: against thresholds, or against how it was."""
