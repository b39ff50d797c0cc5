"""A pattern that begins with a module's name imports that module alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import list_benchmarks_in
from asv_watch.engine.sides import Side

TIMED = "def time_it():\n    pass\n"
FILES = {"plain": TIMED, "plain_compiled": TIMED, "deep/inner": TIMED, "broken": "1 / 0\n"}


@pytest.mark.parametrize(
    ("pattern", "listed", "imports_all"),
    [
        (r"^plain\.", ["plain.time_it"], False),
        (r"^deep\.inner\.time_it$", ["deep.inner.time_it"], False),
        *(
            (pattern, ["deep.inner.time_it", "plain.time_it", "plain_compiled.time_it"], True)
            for pattern in (
                "plain.time_it",
                "^plain",
                r"^plain\.|deep",
                "^plain.*it",
                r"^no\.",
                "",
            )
        ),
    ],
)
def test_the_module_at_the_start_of_a_pattern_is_the_only_one_imported(
    tmp_path: Path,
    made_environment: Path,
    capsys: pytest.CaptureFixture[str],
    pattern: str,
    listed: list[str],
    *,
    imports_all: bool,
) -> None:
    for name, text in FILES.items():
        path = tmp_path / f"benchmarks/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").touch()
    suites = tmp_path / "benchmarks"
    side = Side("head", tmp_path, EnvironmentSpec({}, "", made_environment), suites)
    benchmarks = list_benchmarks_in(side, Declared(), pattern)
    assert sorted(benchmark["name"] for benchmark in benchmarks) == listed
    assert ("suite broken cannot be imported" in capsys.readouterr().err) == imports_all
