"""Hypothesis tests of pass rates, their power, and corrections for several tests."""
