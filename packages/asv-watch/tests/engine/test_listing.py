"""Suites are imported one after the other, and one that cannot be is named."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine import cases
from asv_watch.engine.cases import list_benchmarks
from asv_watch.engine.workplace import Side
from asv_watch.errors import WatchError
from asv_watch.machine.children import MEMORY_LIMIT

TIMED = """
import os
import time

{importing}

def time_it():
    pass
"""
UNREACHABLE = "Temporary failure in name resolution"


@pytest.fixture
def list_suites(
    tmp_path: Path, made_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Lists the benchmarks of suites, given what each does when it is imported."""
    monkeypatch.setattr(cases, "make_environment", lambda *_: None)

    def list_suites(
        importing: dict[str, str], import_timeout: float = 60.0, pattern: str = ""
    ) -> list[str]:
        folder = tmp_path / "benchmarks"
        folder.mkdir()
        for name, body in importing.items():
            path = folder / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(TIMED.format(importing=body))
        side = Side("head", tmp_path, EnvironmentSpec({}, "", made_environment), folder)
        declared = Declared(import_timeout=import_timeout)
        repository = SimpleNamespace(repository=tmp_path)
        workplace: Any = SimpleNamespace(
            root=tmp_path, configuration=repository, declared=declared
        )
        listing = list_benchmarks(workplace, [side], pattern)
        return [str(benchmark["name"]) for benchmark in listing.benchmarks]

    return list_suites


def test_a_suite_that_hangs_or_fails_or_ends_its_process_is_named_and_the_others_are_listed(
    list_suites: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    importing = {
        "computes": "while True:\n    pass",
        "ends": "os._exit(3)",
        "offline": f"import socket\nraise socket.gaierror(-3, {UNREACHABLE!r})",
        "sleeps": "time.sleep(600)",
        "works": "",
    }
    assert list_suites(importing, 5.0) == ["works.time_it"]
    late = 'importing it takes more than 5 s; raise "import_timeout" (seconds) in asv.conf.json'
    lines = capsys.readouterr().err.splitlines()
    for suite, reason in (
        ("computes", late),
        ("ends", "its process ended: exit status 3"),
        ("offline", f"gaierror: [Errno -3] {UNREACHABLE}"),
        ("sleeps", late),
    ):
        expected = f"suite {suite} cannot be imported: {reason}"
        assert any(line.startswith(expected) for line in lines)
    assert len(lines) == 4


def test_a_suite_that_takes_too_much_memory_is_named_and_the_others_are_listed(
    list_suites: Callable[..., list[str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "0.4")
    holds = "kept = b'1' * (250 << 20)\ntime.sleep(2.5)  # until it is looked at"
    importing = {
        "a_large": holds,
        "b_greedy": "kept = b'1' * (1 << 29)\ntime.sleep(600)",
        "c_large": holds,
        "d_large": holds,
    }
    assert list_suites(importing) == ["a_large.time_it", "c_large.time_it", "d_large.time_it"]
    [line] = capsys.readouterr().err.splitlines()
    reason = f"it used more than 0.4 GiB of memory and was stopped; {MEMORY_LIMIT} sets the limit"
    assert line == f"suite b_greedy cannot be imported: {reason}"


def test_an_error_says_why_no_suite_is_left(list_suites: Callable[..., list[str]]) -> None:
    with pytest.raises(WatchError, match="suite fails cannot be imported: ValueError: no data"):
        list_suites({"fails": "raise ValueError('no data')"})


ALL = ["deep.inner", "plain", "plain_compiled"]


@pytest.mark.parametrize(
    ("pattern", "listed"),
    [
        (r"^plain\.", ["plain"]),
        (r"^deep\.inner\.time_it$", ["deep.inner"]),
        ("plain.time_it", ALL),
        ("^plain", ALL),
        (r"^plain\.|deep", ALL),
        ("^plain.*it", ALL),
        (r"^no\.", ALL),
        ("", ALL),
    ],
)
def test_the_module_at_the_start_of_a_pattern_is_the_only_one_imported(
    list_suites: Callable[..., list[str]],
    capsys: pytest.CaptureFixture[str],
    pattern: str,
    listed: list[str],
) -> None:
    importing = {"plain": "", "plain_compiled": "", "deep/inner": "", "broken": "1 / 0"}
    assert list_suites(importing, pattern=pattern) == [f"{name}.time_it" for name in listed]
    says_broken = "suite broken cannot be imported" in capsys.readouterr().err
    assert says_broken is (len(listed) > 1)
