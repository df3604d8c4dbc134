"""Read the cases of a config, each test with each prompt, from an evaluation in which no provider answered."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut._base import Frozen, UsageError, canonical_json

VERDICT = "promptfoo"
"""The check of a test that is judged as a whole."""
LONGEST = 60
_COMPARING = ("select-best", "max-score")


class Case(Frozen):
    """A test with one of the prompts."""

    test: int
    """Its number in promptfoo's order, once variables with several values are spread out."""
    prompt: int
    name: str
    checks: tuple[str | None, ...]
    """Names of its assertions, in promptfoo's order; None for one of weight 0, which promptfoo never lets fail."""
    whole: bool = False
    """Whether it is judged as a whole: by a threshold for its score, by a function, or without assertions."""

    @property
    def check_names(self) -> tuple[str, ...]:
        """Return the names of the checks that its runs report."""
        return (VERDICT,) if self.whole else tuple(name for name in self.checks if name is not None)


def cases_of(found: Mapping[str, Any]) -> tuple[Case, ...]:
    """Return the cases of an evaluation's results, in promptfoo's order. Raise `UsageError` for an unfit
    test.
    """
    rows = sorted(found["results"]["results"], key=lambda row: (row["testIdx"], row["promptIdx"]))
    config = found.get("config") or {}
    # promptfoo asks each prompt once where there is no test
    if not rows or (config.get("tests") == [] and not config.get("scenarios")):
        raise UsageError(
            "suite.promptfoo: the config, with the filters given, has no test. Add one under `tests`"
        )
    several = len({row["promptIdx"] for row in rows}) > 1
    names = _unique(_name(row, several) for row in rows)
    return tuple(_case(row, name) for row, name in zip(rows, names, strict=True))


def _case(row: Mapping[str, Any], name: str) -> Case:
    test = row["testCase"]
    if problem := _not_a_case(row):
        raise UsageError(
            f"suite.promptfoo: the test {name!r} {problem}. Leave it out with `filters`, or change it"
        )
    asserted = test.get("assert") or ()
    checks = tuple(_unique_checks(asserted))
    whole = test.get("threshold") is not None or bool(test.get("assertScoringFunction"))
    return Case(
        test=row["testIdx"],
        prompt=row["promptIdx"],
        name=name,
        checks=checks,
        whole=whole or not any(checks),
    )


def _not_a_case(row: Mapping[str, Any]) -> str:
    """Return why a test says nothing about one run of an agent, as a phrase."""
    test, options = row["testCase"], row["testCase"].get("options") or {}
    if test.get("provider"):
        return "names a provider of its own, which is not the agent"
    if options.get("storeOutputAs") or "_conversation" in str(row["prompt"].get("label")):
        return "needs or keeps the answers of other tests, so that it cannot be run alone"
    kinds = [a.get("type") for a in test.get("assert") or ()]
    comparing = next((kind for kind in kinds if kind in _COMPARING), None)
    return (
        f"has the assertion {comparing}, which compares answers instead of judging one" if comparing else ""
    )


def _name(row: Mapping[str, Any], several: bool) -> str:
    test = row["testCase"]
    said = ", ".join(f"{key}={_short(value)}" for key, value in sorted((test.get("vars") or {}).items()))
    name = str(test.get("description") or said or f"test {row['testIdx'] + 1}")
    return f"{name} [prompt {row['promptIdx'] + 1}]" if several else name


def _unique_checks(asserted: Iterable[Mapping[str, Any]]) -> Iterator[str | None]:
    asserted = list(asserted)
    names = iter(_unique(_check_name(one) for one in asserted if one.get("weight") != 0))
    for one in asserted:
        yield None if one.get("weight") == 0 else next(names)


def _check_name(assertion: Mapping[str, Any]) -> str:
    kind, value = str(assertion.get("type")), assertion.get("value")
    if assertion.get("metric"):
        return _short(assertion["metric"])
    return kind if value is None else f"{kind}: {_short(value)}"


def _short(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else canonical_json(value)).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _unique(names: Iterable[str]) -> list[str]:
    """Return the names, with a number after each repeated name.

    >>> _unique(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: Counter[str] = Counter()
    given = []
    for name in names:
        seen[name] += 1
        given.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return given
