"""Where a document can be cut, or something put into it."""

from agentmut.language import parse, splits


def boundaries(text: str) -> list[int]:
    """Ends of sentences and lines with something before and after them, none inside code or a quote."""
    parsed = parse(text)
    lines, at = [], 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        lines.append(at)
    last = len(text.rstrip())
    ends = {*lines, *(instruction.end for instruction in parsed.instructions)}
    return sorted(
        end for end in ends if text[:end].strip() and end < last and not splits(parsed.protected, end)
    )
