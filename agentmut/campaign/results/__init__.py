"""After the last trial: scores, what CI would have seen, and `result.json`."""
