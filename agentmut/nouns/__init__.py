"""The nouns: frozen models and plain data that every other room speaks of."""
