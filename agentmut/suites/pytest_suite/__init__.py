"""pytest: every test item is a case, run again and again in worker processes that hold one collected session."""
