"""Bodies are read by a parser in machine code where that says the same as Python's; here both are held side by side."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut.wire.bodies import DEEPEST, read_json

REFUSED = (
    b"", b"-", b"01", b"1.", b".5", b"+1", b"--1", b"1_0", b"tru", b"[1,]", b'{"a":1,}', b"{1:2}", b"{'a':1}", b'"a',
    b'"\x01"', b'"\t"', b'"\\x41"', b"\x0b{}", b"\x00", b'{"a":1}x', b"[1 2]", b"/*x*/1", b'"\x80"',
    b"NaN", b"Infinity", b"[-Infinity]", b"1e999", b'{"a": [-1e999]}', b"18" + b"0" * 300 + b".5e9",
    b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), b'{"a":' * 150 + b"1" + b"}" * 150, b"[" * 100_000,
)  # fmt: skip
READ: tuple[tuple[bytes, Any], ...] = (
    (b"-0", 0), (b"1E5", 100_000.0), (b"5e-324", 5e-324), (b"1e-400", 0.0), (b"1e23", 1e23),
    (b"1.7976931348623157e308", 1.7976931348623157e308), (b"9007199254740993.0", 9007199254740992.0),
    (b"123456789012345678901234567890", 123456789012345678901234567890), (b" \n{} \t", {}),
    (b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}), (b'"\\ud83d\\ude00"', "\U0001f600"), (b'"\\ud800"', "\ud800"),
    (b'"\xed\xa0\x80"', "\ud800"), (b"\xef\xbb\xbf{}", {}), ('{"a":1}'.encode("utf-16"), {"a": 1}),
    ('["\U0001f600\U0001f7ff", 1.5]'.encode(), ["\U0001f600\U0001f7ff", 1.5]),
    (b"[" * DEEPEST + b"]" * DEEPEST, json.loads("[" * DEEPEST + "]" * DEEPEST)),
)  # fmt: skip


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: repr(body[:20]))
def test_what_is_no_json_of_a_service_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="the body is"):
        read_json(body)


@pytest.mark.parametrize(("body", "value"), READ, ids=lambda each: repr(each)[:20])
def test_what_python_reads_is_read_alike(body: bytes, value: object) -> None:
    found = read_json(body)
    assert (repr(found), type(found)) == (repr(value), type(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_any_value_comes_back_as_it_was_written(value: object, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert repr(read_json(body)) == repr(value)


@given(st.from_regex(rb"-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_any_number_is_the_one_that_python_reads(body: bytes) -> None:
    def read() -> object:
        try:
            return read_json(body)
        except ValueError:
            return "refused"

    try:
        expected = json.loads(body)
    except ValueError:
        expected = "refused"
    infinite = isinstance(expected, float) and abs(expected) == float("inf")
    assert repr(read()) == repr("refused" if infinite else expected)
