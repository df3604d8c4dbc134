"""How many mutants of other people's prompts a team could ship by accident."""
