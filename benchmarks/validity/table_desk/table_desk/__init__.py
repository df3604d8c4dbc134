"""The desk of a library, driven by a table in place of a model."""
