"""Answers messages about orders, as a LangGraph pipeline."""
