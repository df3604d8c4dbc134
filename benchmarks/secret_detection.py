"""How well secrets are told from ordinary text, and what that costs, each figure beside its target.

`python benchmarks/secret_detection.py [FILE...]` prints how many planted secrets are found, the false alarms in 10,000
words of ordinary text, and the processor time. A FILE, such as one of recorded runs, is one more ordinary text. Where
`detect-secrets` is installed, its figures stand beside ours. The exit code is 1 when a target is missed.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agentmut.recording.redaction import MASK, Redactor  # noqa: E402
from tests.recording import ordinary_texts as texts  # noqa: E402
from tests.recording.planted import Planted, planted_secrets  # noqa: E402

FALSE_ALARMS, SECONDS = 1.0, 0.5
"""Targets: false alarms in 10,000 words at most; seconds of processor time for a megabyte of JSON at most."""
REDACTOR = Redactor(())
Detector = Callable[[str], list[str]]
Counter = Callable[[str], int]


def missed(planted: Iterable[Planted], detector: Detector) -> list[Planted]:
    """Return the planted secrets of which the detector leaves eight characters or more."""
    return [one for one in planted if not _covers(detector(one.text), one)]


def _covers(found: list[str], one: Planted) -> bool:
    left = one.text
    for secret in found:
        left = left.replace(secret, " ")
    return not any(one.secret[i : i + 8] in left for i in range(max(1, len(one.secret) - 7)))


def ours(text: str) -> list[str]:
    """Return what agentmut masks in a text."""
    return list(REDACTOR.secrets_in(text))


def places_of_ours(text: str) -> int:
    """Return how many places of a text agentmut masks."""
    return REDACTOR.text(text).count(MASK) - text.count(MASK)


def places_of_theirs(text: str) -> int:
    """Return how many secrets detect-secrets finds in a text."""
    return len(theirs(text))


def theirs(text: str) -> list[str]:
    """Return what detect-secrets finds in a file with all its detectors and filters, as its command does."""
    with (
        import_module("detect_secrets.settings").default_settings(),
        tempfile.NamedTemporaryFile("w") as file,
    ):
        file.write(text)
        file.flush()
        found = import_module("detect_secrets").SecretsCollection()
        found.scan_file(file.name)
        return [secret.secret_value for _, secret in found if secret.secret_value]


def seconds_per_megabyte() -> float:
    """Return processor time for a megabyte of JSON without secrets."""
    text = (
        "\n".join(texts.language_reference()) + '{"role": "user", "content": "Where is order 1042?"}' * 8000
    )
    redactor = Redactor(["hunter2hunter2"])
    begun = time.process_time()
    redactor.text(text)
    return (time.process_time() - begun) / len(text) * 1e6


def import_seconds(module: str) -> float:
    """Return seconds that importing a module adds to a start of Python, the least of five."""
    source = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", source], cwd=ROOT)) for _ in range(5))


def main(files: list[str]) -> int:
    """Print the figures. Returns the exit code."""
    seeds = [planted_secrets(seed) for seed in range(20, 25)]
    corpora = {
        "Python's reference": list(texts.language_reference()),
        "this project's pages and requests": list(texts.own_pages()),
        "packages' descriptions": list(texts.package_descriptions()),
        **{name: list(texts.recorded_runs(Path(name))) for name in files},
    }
    good = _print_figures("agentmut", ours, places_of_ours, seeds, corpora)
    cost = seconds_per_megabyte()
    print(f"agentmut: {cost:.2f} s of processor time for a megabyte (at most {SECONDS})")
    if importlib.util.find_spec("detect_secrets") is None:
        print("detect-secrets is not installed, so it is not compared (pip install detect-secrets)")
    else:
        print(
            f"detect-secrets: importing it takes {1000 * import_seconds('detect_secrets.core.scan'):.0f} ms"
        )
        _print_figures("detect-secrets", theirs, places_of_theirs, seeds, corpora)
    return 0 if good and cost <= SECONDS else 1


def _print_figures(
    name: str, detector: Detector, count: Counter, seeds: list[list[Planted]], corpora: dict[str, list[str]]
) -> bool:
    lost = [one for planted in seeds for one in missed(planted, detector)]
    whole = sum(map(len, seeds))
    kinds = ", ".join(sorted({one.kind for one in lost})[:12])
    print(
        f"{name}: {whole - len(lost)} of {whole} planted secrets found{f'; missed: {kinds}' if lost else ''}"
    )
    rates = [_print_alarms(name, count, where, found) for where, found in corpora.items()]
    return not lost and max(rates) <= FALSE_ALARMS


def _print_alarms(name: str, count: Counter, where: str, corpus: list[str]) -> float:
    words, alarms = texts.words_in(corpus), sum(map(count, corpus))
    rate = 1e4 * alarms / words
    told = f"{alarms} in {words:,}; at most {FALSE_ALARMS}"
    print(f"{name}: {rate:.2f} false alarms in 10,000 words of {where} ({told})")
    return rate


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
