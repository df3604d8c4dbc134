"""inspect_ai: a sample of a task is a case, and each of its scorers a check."""
