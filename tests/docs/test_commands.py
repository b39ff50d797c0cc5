"""Every command in the pages is one that the programs take; those that train are run."""

import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import typer

from asv_watch.cli.main import app as asv_watch
from tests.conftest import ROOT, run
from tests.docs.pages import pages
from torchspeed.cli.main import main
from torchspeed.cli.main import parser as torchspeed_parser

MODULES = {"asv": "asv", "asv-watch": "asv_watch.cli"}
DOCUMENTED = sorted(
    {
        " ".join(command.split()).removesuffix(" [FOLDER]")  # which may be left out
        for page in pages()
        if page.path.name != "CHANGELOG.md"  # it tells of commands that went too
        for command in page.commands()
    }
)


def _starting(*programs: str) -> list[str]:
    return [
        command for command in DOCUMENTED if command.startswith(tuple(f"{p} " for p in programs))
    ]


READ_HERE = [command for command in DOCUMENTED if "ci-2core" in command]
"""Commands whose page shows what they print of the results in this checkout."""


@pytest.mark.parametrize("command", _starting("asv-watch"))
def test_asv_watch_takes_what_a_page_shows(command: str) -> None:
    _, *words = shlex.split(command.removesuffix(" --help"))
    if not words:  # the help of the program itself
        return
    name, *arguments = words
    group = typer.main.get_group(asv_watch)
    with group.make_context("asv-watch", [name], resilient_parsing=True) as context:
        subcommand = group.get_command(context, name)
        assert subcommand is not None, f"asv-watch has no command {name}"
        if arguments:  # a bare name is the command, not a command line
            subcommand.make_context(name, arguments, parent=context).close()


@pytest.mark.parametrize("command", _starting("torchspeed"))
def test_torchspeed_takes_what_a_page_shows(command: str) -> None:
    _, *words = shlex.split(command)
    if len(words) > 1 and "--help" not in words:
        torchspeed_parser().parse_args(words)


@pytest.mark.parametrize("command", _starting("make"))
def test_make_knows_what_a_page_makes(command: str) -> None:
    words = shlex.split(command)[1:]
    folder = ROOT / words[1] if words[0] == "-C" else ROOT
    target = next(word for word in words[2 * (folder != ROOT) :] if not word.startswith("-"))
    assert re.search(rf"^{target}:", (folder / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", READ_HERE)
def test_a_command_that_reads_the_tracked_results_runs(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert run(sys.executable, "-m", MODULES[program], *arguments, cwd=ROOT).stdout


@pytest.mark.parametrize("command", _starting("python -m", "python3 -m"))
def test_a_module_that_a_page_runs_exists(command: str) -> None:
    module = command.split()[2]
    of_asv_watch = ROOT / "packages/asv-watch" / f"{module.replace('.', '/')}.py"
    assert of_asv_watch.is_file() or find_spec(module) is not None


SMALLER = {
    "-b": "4",
    "-e": "1",
    "-w": "0",
    "--devices": "1",
    "--device": "cpu",
    "--optimiser": "adam",
    "--rate": "0.01",
    "--target-accuracy": "2",
    "--search": "1",
}
"""Option to the value that makes a documented command small; a sweep has one point."""
TRAINING = "train", "inference", "smooth-inference", "sweep"
RUN = [c for c in _starting(*(f"torchspeed {name}" for name in TRAINING)) if " -" in c]
"""Commands that train; tests/studies/test_reproductions.py has what is published."""


def smaller(words: list[str]) -> list[str]:
    small = [SMALLER.get(option, word) for option, word in zip(["", *words], words, strict=False)]
    for option in {"train": ("-b", "-e"), "sweep": ()}.get(words[0], ("-b",)):
        small += [] if option in words else [option, SMALLER[option]]
    return [*small, "--limit-batches", "3"]


@pytest.mark.parametrize("command", RUN)
def test_a_documented_command_runs(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{hour},{hour % 24},{20 - hour % 7}" for hour in range(1_000))
    (tmp_path / "load.csv").write_text("\n".join(["hour,load,temperature", *rows]))
    assert main(smaller(command.split()[1:])) == 0


SCRIPT = ROOT / "docs/dropout_on_cpus.py"
"""The script beside the findings, here with one interpreter on both sides."""


def test_the_dropout_script_prints_a_ratio_of_each_case() -> None:
    small = ["--batch", "1", "--rounds", "2"]
    printed = run(sys.executable, SCRIPT, sys.executable, sys.executable, *small).stdout
    assert f"torch {torch.__version__} / {torch.__version__}" in printed
    row = r"^\| (.+) \| ([12]) \| (\S+) \| (\S+) to (\S+) \| (\S+) \| (\S+) \|$"
    rows = re.findall(row, printed, re.MULTILINE)
    assert len({row[:2] for row in rows}) == len(rows) == 8
    assert all(0.2 < float(ratio) < 5 for _, _, ratio, *_ in rows), "both sides are the same"
    assert all(float(before) > 0 < float(after) for *_, before, after in rows)


def test_the_dropout_script_names_an_interpreter_without_torch() -> None:
    for python, remedy in {"/no/python": "name the interpreter", "false": "needs torch"}.items():
        done = run(sys.executable, SCRIPT, sys.executable, python, status=1)
        assert re.fullmatch(rf"{python}: .*{remedy}.*\n", done.stderr)
