"""The study of what a mutation score tells: agents, faults, sub-suites and the page."""
