"""Labels the tickets of a software company."""
