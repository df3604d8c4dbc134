"""Language: what texts say. Operators, relations, coverage and simulator read prompts and answers through it."""
