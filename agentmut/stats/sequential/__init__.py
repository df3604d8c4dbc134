"""Evidence that may be looked at while trials are still being run."""
