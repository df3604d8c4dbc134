"""The code blocks of a page."""

import re


def blocks(page: str, language: str) -> list[str]:
    """Return the text of each block of the language, in the page's order; `page` is the page's text."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
