"""One codec a service dialect, and what they share."""
