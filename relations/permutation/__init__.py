"""Relations on order: the order of an agent's inputs should not matter."""
