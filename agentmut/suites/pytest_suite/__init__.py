"""pytest: every test item is a case, run repeatedly in worker processes that hold one collected session."""
