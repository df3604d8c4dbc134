"""The kill rule: when trials are evidence that a mutant is worse, where the next trial goes, what it costs."""
