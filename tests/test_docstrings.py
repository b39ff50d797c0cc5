"""The docstring of a function says in a whole sentence what it does."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ROOT

NO_VERBS = frozenset(
    [
        "A",
        "All",
        "An",
        "Each",
        "Every",
        "Half",
        "How",
        "Names",
        "One",
        "Only",
        "Seconds",
        "The",
        "Those",
        "Two",
        "What",
        "When",
        "Where",
        "Whether",
        "Which",
        "Why",
    ]
)
"""Words that begin a noun phrase, such as "The rows of a table"; a property may have one."""
MEASURED = ("benchmarks", "src/torchspeed/models")
"""Where a docstring is not reworded, because results belong to the code that they were made by."""


@pytest.mark.parametrize("folder", ["src", "tools"])
def test_a_function_is_described_by_a_sentence(folder: str) -> None:
    phrases = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(MEASURED):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef):
                continue
            is_property = any("property" in ast.unparse(made) for made in node.decorator_list)
            words = (ast.get_docstring(node) or "").split()
            if words and not is_property and words[0].strip(",.:") in NO_VERBS:
                phrases.append(f"{name}:{node.lineno} {node.name}: {' '.join(words[:8])}")
    assert phrases == []
