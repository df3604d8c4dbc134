"""Facts that an answer states and a run shows, and comparisons of runs by them."""
