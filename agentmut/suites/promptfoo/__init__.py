"""promptfoo: every test of a config is a case, run and judged by the real command line tool."""
