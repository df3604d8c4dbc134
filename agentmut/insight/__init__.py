"""What stored runs tell beyond scores: coverage, explanations of survivors, proposals."""
