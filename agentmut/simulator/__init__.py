"""An offline stand-in for a language model, for demos and tests; no evidence about real models."""
