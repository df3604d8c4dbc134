"""The built-in evaluators."""
