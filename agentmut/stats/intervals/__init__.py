"""Intervals: for one proportion, for differences, for several at once, by resampling."""
