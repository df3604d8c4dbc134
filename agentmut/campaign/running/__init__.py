"""While trials run: the loop, budgets, and the trials that are already stored."""
