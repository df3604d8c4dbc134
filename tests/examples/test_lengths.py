"""The examples of libraries without an adapter are short: at most 30 lines of code, as docs/frameworks.md says."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARIES = sorted((EXAMPLES / "libraries").glob("*.py"))
IN_JAVASCRIPT = sorted((EXAMPLES / "js_libraries").glob("*.mjs"))
MOST = 30
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
}  # fmt: skip


def lines_of_code(source: str) -> int:
    """Count the lines of Python without blank lines, comments and docstrings."""
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            code -= set(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    return len(code)


def lines_of_javascript(source: str) -> int:
    """Count the lines without blank lines and lines that are comments."""
    lines = [line.strip() for line in source.splitlines()]
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)


def test_lines_are_counted_without_blank_ones_comments_and_docstrings() -> None:
    said = '"""What it is.\n\nMore.\n"""\n\nimport os  # here\n\n\n'
    code = '# why\ndef f():\n    """One."""\n    return """\n    x\n    """\n'
    assert lines_of_code(said + code) == 5  # import, def, and three of the text that is returned
    assert lines_of_javascript("// why\n\nconst a = 1; // here\n/* more\n * of it */\n") == 1


@pytest.mark.parametrize("file", LIBRARIES, ids=lambda file: str(file.name))
def test_an_example_in_python_is_short(file: Path) -> None:
    assert 0 < lines_of_code(file.read_text("utf-8")) <= MOST


@pytest.mark.parametrize("file", IN_JAVASCRIPT, ids=lambda file: str(file.name))
def test_an_example_in_javascript_is_short(file: Path) -> None:
    assert 0 < lines_of_javascript(file.read_text("utf-8")) <= MOST


def test_each_library_of_the_page_has_an_example() -> None:
    found = {file.stem.removesuffix("_agent") for file in (*LIBRARIES, *IN_JAVASCRIPT)}
    assert found >= {
        "litellm", "dspy", "strands", "agno", "haystack", "ag2", "claude", "ai", "anthropic", "openai", "mastra"
    }  # fmt: skip
