"""What holds of the repository, whoever has changed it."""

import re
import unittest
from pathlib import Path


class Repository(unittest.TestCase):
    """The version and the changelog."""

    def test_the_version_has_three_numbers(self) -> None:
        self.assertRegex(Path("VERSION").read_text(), re.compile(r"^\d+\.\d+\.\d+$", re.MULTILINE))
