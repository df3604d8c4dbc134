"""promptfoo: every test of a config is a case; the real command-line tool runs and judges it."""
