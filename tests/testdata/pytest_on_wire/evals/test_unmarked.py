def test_that_asks_no_model() -> None:
    raise AssertionError("deselected by -m evals")
