"""Several runs, or several agents, that have to agree."""
