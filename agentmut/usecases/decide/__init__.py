"""Decisions on what is stored: what a run will take, whether to deploy, and what has drifted. Pure."""
