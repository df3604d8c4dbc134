"""Regular expressions of users, with a time bound: a bad one needs years for a text of 41 characters."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from agentmut._base.errors import RunError

LONGEST_SEARCH_SECONDS = 5.0
"""A search that takes longer ends with an error. Usual ones take microseconds."""


class BoundedPattern:
    """A regular expression of Python. A search that takes longer than its bound raises `RunError`.

    `re` decides what is a regular expression; the package `regex` searches, in the mode that keeps the meaning of `re`,
    since a search of `re` cannot be stopped. One difference is left: `\\w` matches Unicode's word characters: a
    combining mark is one, "½" is none. The package is imported with the first search.

    Raises `ValueError` for what is no regular expression.
    """

    def __init__(self, pattern: str, seconds: float = LONGEST_SEARCH_SECONDS) -> None:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"expects a regular expression, got {pattern!r}: {error}") from None
        self.pattern = pattern
        self._seconds = seconds

    @cached_property
    def _compiled(self) -> Any:
        import warnings

        import regex  # type: ignore[import-untyped]  # slow to import, and rarely needed

        with warnings.catch_warnings():
            # of sets within sets, which `re` does not know either
            warnings.simplefilter("ignore", FutureWarning)
            return regex.compile(self.pattern, regex.V0)

    def search(self, text: str) -> Any:
        """Return the first match in a text, as `re.Pattern.search` does. Raises `RunError` after the bound."""
        return self._bounded(self._compiled.search, text)

    def fullmatch(self, text: str) -> Any:
        """Return the match of a whole text, as `re.Pattern.fullmatch` does. Raises `RunError` after the bound."""
        return self._bounded(self._compiled.fullmatch, text)

    def finditer(self, text: str) -> Iterator[Any]:
        """Return all matches, as `re.Pattern.finditer` does. Raises `RunError` after the bound for all."""
        return iter(
            self._bounded(lambda whole, timeout: list(self._compiled.finditer(whole, timeout=timeout)), text)
        )

    def _bounded(self, find: Any, text: str) -> Any:
        try:
            return find(text, timeout=self._seconds)
        except TimeoutError:
            raise RunError(
                f"the regular expression /{self.pattern}/ took more than {self._seconds:g} s on a text of {len(text)} "
                "characters. Write it without a repeat inside of a repeat, such as (a+)+."
            ) from None
