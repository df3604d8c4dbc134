"""deepeval: tests of pytest in which deepeval's metrics judge."""
