"""Titles of two runs side by side: typical, most different, or failed."""

WHY_CHOSEN = {
    "typical": "a typical run of each",
    "telling": "the run of the mutant that differs most",
    "another": "another run of the mutant, and a typical run of the original",
    "asked for": "the run that was asked for, and a typical run of the original",
}
"""`SideBySide.chosen` -> what the two runs are."""
