"""A certificate authority of one run, for programs that hard-code the address of a model service.

All keys stay in this process. The certificate of the authority lies in a private folder that is removed
when the run ends; programs are told of it by environment variables, and nothing of this machine's trust is changed.
"""

import shutil
import ssl
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentmut._base import UsageError

BUNDLE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")
"""Variables that name a file with every certificate that a program trusts."""
ADDED_VARIABLES = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")
"""Variables that name a file with certificates that a program trusts besides others."""


class Authority:
    """Issues certificates of hosts; see `open_authority`."""

    def __init__(self, issuer: Any, folder: Path) -> None:
        self._issuer = issuer
        self._folder = folder
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables that make a program trust the certificates too."""
        bundle, added = str(self._folder / "bundle.pem"), str(self._folder / "authority.pem")
        return {**dict.fromkeys(BUNDLE_VARIABLES, bundle), **dict.fromkeys(ADDED_VARIABLES, added)}

    def context(self, host: str) -> ssl.SSLContext:
        """Return the TLS context of a server in a host's name; it offers only HTTP/1.1."""
        if host not in self._contexts:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_alpn_protocols(["http/1.1"])
            self._issuer.issue_cert(host).configure_cert(context)
            self._contexts[host] = context
        return self._contexts[host]


@contextmanager
def open_authority(environment: Mapping[str, str]) -> Iterator[Authority]:
    """Make an authority, and remove its folder at the end. Raise `UsageError` if trustme is not installed."""
    try:
        import trustme
    except ImportError as error:
        raise UsageError(
            "interception needs optional dependencies. Install with: pip install 'agentmut[intercept]'"
        ) from error
    folder = Path(tempfile.mkdtemp(prefix="agentmut-authority-"))  # mode 0700
    try:
        issuer = trustme.CA(organization_name="agentmut, for one run")
        own = issuer.cert_pem.bytes()
        _write(folder / "authority.pem", _first(environment, ADDED_VARIABLES) + own)
        _write(folder / "bundle.pem", _trusted(environment) + own)
        yield Authority(issuer, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _trusted(environment: Mapping[str, str]) -> bytes:
    """Return the certificates that programs trust without this authority."""
    paths = ssl.get_default_verify_paths()
    usual = {"cafile": paths.cafile or "", "openssl": paths.openssl_cafile}
    return _first(environment, BUNDLE_VARIABLES) or _first(usual, usual)


def _first(named: Mapping[str, str], names: Iterable[str]) -> bytes:
    """Return the first existing file's content, with a line end after it."""
    paths = (Path(named[name]) for name in names if named.get(name))
    found = next((path for path in paths if path.is_file()), None)
    return found.read_bytes() + b"\n" if found else b""


def _write(path: Path, text: bytes) -> None:
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(text)
