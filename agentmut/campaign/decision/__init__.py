"""After each trial: baseline, reach, arms of mutants, and what to do next."""
