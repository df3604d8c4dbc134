"""Dialects: one codec for each kind of service, and the parts that the codecs share."""
