"""Frameworks log failed runs; nobody wants thousands of tracebacks on stderr, and who has set up logging gets them."""

import io
import logging

import pytest

from agentmut.adapters._shared.framework import unless_asked_for


def test_what_a_framework_logs_is_not_printed_where_no_logging_is_set_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed, asked = io.StringIO(), io.StringIO()
    monkeypatch.setattr(logging, "lastResort", logging.StreamHandler(printed))
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log = logging.getLogger("some_framework_1.deep")
    log.error("before")
    unless_asked_for(["some_framework_1"])
    log.error("in vain")
    logging.getLogger().handlers.append(logging.StreamHandler(asked))
    log.error("asked for")
    assert (printed.getvalue(), asked.getvalue()) == ("before\n", "asked for\n")
