"""From a config to its mutants: operators by name, generation, pairs, controls, and what a change touches."""
