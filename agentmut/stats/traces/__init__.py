"""Compare samples of vectors: did the behaviour change, whatever the pass rate did?

All functions take two samples as arrays, one row per trace and one column per feature, the baseline first.
"""
