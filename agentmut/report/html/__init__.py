"""The report of a run as one HTML file: everything in it, nothing loaded."""

from agentmut.report.html.page import html_report

__all__ = ["html_report"]
