"""Shards: one campaign in several runs, each with a part of the mutants, and one result from all parts."""
