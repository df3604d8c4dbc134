"""Calls of tools: doubles and faults that replace results, and plain functions as tools."""
