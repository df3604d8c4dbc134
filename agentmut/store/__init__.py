"""Durable trials: SQLite by default."""
