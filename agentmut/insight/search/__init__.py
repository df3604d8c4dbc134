"""The search for scenarios: proposed inputs are run, and kept if they add coverage or kills."""
