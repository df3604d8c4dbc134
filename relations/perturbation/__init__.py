"""Relations on small changes of the user's words, and their permitted effects."""
