"""Reports for other programs: Markdown, JUnit, SARIF, Stryker."""
