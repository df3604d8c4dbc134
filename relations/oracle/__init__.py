"""Relations that check an answer against its request."""
