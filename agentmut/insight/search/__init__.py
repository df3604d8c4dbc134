"""The search for scenarios: proposed inputs are run, and kept where they add something."""
