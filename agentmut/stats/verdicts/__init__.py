"""Three-valued verdicts on pass rates: for one scenario, for a suite, and against a baseline."""
