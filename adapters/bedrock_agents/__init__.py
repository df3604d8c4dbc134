"""Agents of Amazon Bedrock."""
