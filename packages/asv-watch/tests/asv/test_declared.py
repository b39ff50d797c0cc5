"""What a project declares in asv.conf.json: a misspelt name is an error, not silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.declared import Declared, SuiteEntry
from asv_watch.asv.settings import load_settings
from asv_watch.errors import WatchError

SUITE = """
class Parser:
    params = ["small", "large"]
    param_names = ["size"]

    def time_parse_cold(self, size):
        pass
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one suite."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/parsing.py").write_text(SUITE)
    return tmp_path


def configure(root: Path, **entries: Any) -> None:
    """Load a configuration with these entries."""
    settings = {"version": 1, "project": "p", "repo": ".", "environment_type": "virtualenv"}
    (root / "asv.conf.json").write_text(json.dumps(settings | entries))
    load_settings(root)


def test_names_that_are_known_are_taken(root: Path) -> None:
    configure(
        root,
        suites={"parsing": {"position": 1}, "parsing.Parser.time_parse_cold": {"short": False}},
        layout={
            "rows": "size",
            "columns": ["state", "kind", "metric"],
            "words": {"state": ["cold"]},
            "labels": {"kind": {"parsing.Parser": "slow", "": "fast"}},
        },
        machines=["desk"],
        environment_gib=6,
        wheel_cache_size=3,
        _comment="a key that begins with an underscore is a remark",
    )


@pytest.mark.parametrize(
    ("entries", "name", "meant"),
    [
        ({"machine": ["desk"]}, "machine", "machines"),
        ({"enviroment_gib": 6}, "enviroment_gib", "environment_gib"),
        ({"benchmarks_dir": "b"}, "benchmarks_dir", "benchmark_dir"),
        ({"suites": {"parsin": {"position": 1}}}, "parsin", "parsing"),
        ({"suites": {"parsing.Parsr": {"position": 1}}}, "Parsr", "Parser"),
        ({"layout": {"rows": "sise"}}, "sise", "size"),
        ({"layout": {"columns": ["sizes"]}}, "sizes", "size"),
        ({"layout": {"words": {"state": ["colt"]}}}, "colt", None),
        ({"layout": {"labels": {"kind": {"parzing": "slow"}}}}, "parzing", "parsing"),
    ],
)
def test_a_misspelt_name_is_an_error(
    root: Path, entries: dict[str, Any], name: str, meant: str | None
) -> None:
    with pytest.raises(WatchError) as refused:
        configure(root, **entries)
    assert repr(name) in str(refused.value)
    assert meant is None or f"did you mean {meant!r}?" in str(refused.value)


@pytest.mark.parametrize(
    "entries",
    [
        {"gpu_cases": "a{99999999999}"},
        {"release_cases": "(" * 6000},
        {"night_cases": "("},
        {"environment_gib": 1e300},
        {"environment_gib": float("inf")},
    ],
)
def test_a_value_that_cannot_be_used_is_an_error(root: Path, entries: dict[str, Any]) -> None:
    with pytest.raises(WatchError) as refused:
        configure(root, **entries)
    assert next(iter(entries)) in str(refused.value)


def test_the_page_says_what_the_gate_ignores_and_why() -> None:
    declared = Declared(
        suites={
            "io": SuiteEntry(ignore="its data comes from the network"),
            "linalg.Solve": SuiteEntry(threshold="5%", position=1),
            "parsing": SuiteEntry(position=2),
        }
    )
    assert list(declared.gate_exceptions()) == [
        "The gate ignores io: its data comes from the network.",
        "The gate fails if a case of linalg.Solve is slower by 5% or more.",
    ]


def test_the_address_of_the_site_is_one_of_the_web(root: Path) -> None:
    for address in ("javascript:alert(1)", "speed.example.org", "https://", " http://a"):
        message = '"site_url" of asv.conf.json is .+; give an address that begins with https://'
        with pytest.raises(WatchError, match=message):
            configure(root, site_url=address)
    for address in ("https://speed.example.org", "http://127.0.0.1/speed"):
        configure(root, site_url=address)
