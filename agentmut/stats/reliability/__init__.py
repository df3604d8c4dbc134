"""How far repeated runs, and the judges of runs, can be relied on."""
