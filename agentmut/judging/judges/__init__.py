"""Models that judge a run by a rubric."""
