"""Figures on a whole suite: the mutation score, red CI jobs, coverage."""
