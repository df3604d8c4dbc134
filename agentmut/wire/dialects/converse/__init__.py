"""Bedrock Converse."""
