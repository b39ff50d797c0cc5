"""What the command says without asv and to wrong options; tests/cli has what both commands do."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests.programs import run_program


def test_without_asv_watching_says_what_to_install(tmp_path: Path) -> None:
    done = run_program("asv_watch", "bench", missing=["asv"], folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "asv-watch: the Python package asv is missing, which `asv-watch bench` needs; "
        "install asv-watch again, with all that it requires\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--runs", "3"], "No such option: --runs; see --help"),
        (
            ["compare", "--comparisons", "1"],
            "No such option: --comparisons (Possible options: --cases); see --help",
        ),
        (["calibrate", "--comparisons", "0"], "--comparisons '0': give a number of at least 1"),
        (["calibrate", "--comparisons", "1; x"], "--comparisons '1; x': give a whole number"),
        (["results", "mend"], "action 'mend': give one of 'check'"),
    ],
)
def test_an_option_of_another_command_is_an_error(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # what is not refused must find nothing to measure
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.endswith(f"{message}\n")
