"""Hypothesis tests of pass rates, and corrections for several tests."""
