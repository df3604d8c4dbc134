"""Bedrock InvokeModel: bodies of other dialects behind a path that names the model."""
