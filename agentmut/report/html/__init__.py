"""The report of a run as one HTML file: everything in it, nothing loaded."""

from agentmut.report.html.page import Extra, html_report

__all__ = ["Extra", "html_report"]
