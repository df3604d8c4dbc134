"""Suites of other tools, measured as they are: one module or package each, found through entry points."""
