"""Running metamorphic relations."""
