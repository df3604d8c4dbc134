"""The kill rule: when trials show that a mutant is worse, which scenario gets the next trial, what it costs."""
