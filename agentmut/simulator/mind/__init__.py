"""The simulated model: a pure function of its request and a seed."""
