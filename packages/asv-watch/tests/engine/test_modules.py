"""A pattern that begins with a module's name selects the modules that are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import list_benchmarks_in
from asv_watch.engine.modules import modules_of
from asv_watch.engine.sides import Side

FILES = {
    "indexing": "from . import common\n\nclass Indexing:\n    def time_isel(self): ...\n",
    "plain": "def time_it():\n    pass\n",
    "plain_compiled": "def time_it():\n    pass\n",
    "deep/inner": "def time_it():\n    pass\n",
    "slow": "import time\ntime.sleep(60)\n",
    "common": "def helper():\n    pass\n",
    "related": "class Myindexing:\n    def time_it(self):\n        pass\n",
}


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmarks"
    for name, text in FILES.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").touch()
    return folder


@pytest.mark.parametrize(
    ("pattern", "modules"),
    [
        (r"^indexing\.", ["indexing"]),
        ("indexing.Indexing.time_isel", ["indexing", "related"]),
        (r"^plain\.", ["plain"]),
        ("^plain", ["plain", "plain_compiled"]),
        (r"^deep\.inner", ["deep"]),
        (r"^plain\.(time_it|time_other)", ["plain"]),
        ("^plain|indexing", []),
        ("plain.*time_it", []),
        ("time_isel", []),
        ("^plai?n", []),
        ("^nosuch", []),
        ("[", []),
        ("", []),
    ],
)
def test_the_first_name_of_a_pattern_says_which_modules_may_hold_its_cases(
    suites: Path, pattern: str, modules: list[str]
) -> None:
    assert modules_of(suites, pattern) == modules


def test_no_other_module_is_imported(suites: Path, made_environment: Path, tmp_path: Path) -> None:
    side = Side("head", tmp_path, EnvironmentSpec({}, "", made_environment), suites)
    listed = list_benchmarks_in(side, Declared(), r"^plain\.")
    assert [benchmark["name"] for benchmark in listed] == ["plain.time_it"]
    listed = list_benchmarks_in(side, Declared(), r"^indexing\.")
    assert [benchmark["name"] for benchmark in listed] == ["indexing.Indexing.time_isel"]
