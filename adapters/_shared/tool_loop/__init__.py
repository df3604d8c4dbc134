"""A ready tool loop, and the dialects of the services that it calls."""
