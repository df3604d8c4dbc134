"""A pytest session that prints nothing, remembers nothing and runs a test once when it is asked to."""

from typing import Any

import pytest

_OFF: dict[str, Any] = {
    "agentmut": False, "collectonly": False, "setuponly": False, "setupplan": False, "setupshow": False,
    "usepdb": False, "trace": False, "maxfail": 0, "lf": False, "failedfirst": False, "newfirst": False,
    "cacheclear": False, "cacheshow": None, "stepwise": False, "stepwise_skip": False, "stepwise_reset": False,
    "xmlpath": None, "dist": "no", "distload": False, "numprocesses": None, "tx": [], "looponfail": False,
}  # fmt: skip
"""Options that would make a session something else than its tests, each once."""
REPEATING = ("repeat", "pytest_repeat")
"""Plugins that collect a test several times."""
_UNWANTED = (
    *REPEATING,
    "terminalreporter",
    "rerunfailures", "pytest_rerunfailures",  # tests that are run until they pass notice nothing
    "flaky", "flaky.flaky_pytest_plugin",
    "randomly", "pytest_randomly",  # sets the same seed before each test: all repeats would be one
    "timeout", "pytest_timeout",  # ends the process, or needs its main thread; trials have a deadline of their own
    "lfplugin", "nfplugin", "stepwiseplugin",
)  # fmt: skip
"""Plugins that print, repeat tests or remember what they did. Their options and markers are still known."""


class Quiet:
    """The plugin that makes a session quiet."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Keep output back before other plugins read the options."""
        for name, value in _OFF.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        _hush(config)  # while plugins are configured

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Unregister unwanted plugins, once all are there."""
        for name in _UNWANTED:
            found = config.pluginmanager.get_plugin(name)
            if found is not None and config.pluginmanager.is_registered(found):
                config.pluginmanager.unregister(found)
        cache: Any = getattr(config, "cache", None)
        if cache is not None:
            cache.set = _forget

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Any:
        """Forget what was printed while plugins started; from here on pytest keeps the output."""
        _drop(session.config)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Any:
        """Keep output back while plugins and session fixtures end."""
        _hush(session.config)
        try:
            return (yield)
        finally:
            _drop(session.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Unregister plugins that were registered late."""
        self.pytest_configure(session.config)


def _hush(config: pytest.Config) -> None:
    """Keep back what is printed from here on."""
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.resume_global_capture()


def _drop(config: pytest.Config) -> None:
    """Forget what was printed since."""
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
        capture.read_global_capture()


def _forget(key: str, value: object) -> None:
    """Replace `Cache.set`: no run may depend on an earlier run."""
