"""Every command that trains in any page runs, at a small size."""

from pathlib import Path

import pytest
import torch

from tests.docs.pages import pages
from torchspeed.cli.main import main

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
RUN = ("train", "inference", "smooth-inference", "sweep")
"""Commands that train; tests/studies/test_reproductions.py has what is published."""


def documented() -> list[str]:
    """The commands in the pages, without those that others contain with more options."""
    commands = {
        command
        for page in pages()
        if page.path.name != "CHANGELOG.md"  # it tells of commands that went too
        for command in page.commands()
        if command.startswith("torchspeed") and command.split()[1] in RUN and " -" in command
    }
    words = {" ".join(command.split()): set(command.split()) for command in commands}
    return sorted(
        command
        for command, options in words.items()
        if not any(options < others for others in words.values())
    )


def smaller(words: list[str]) -> list[str]:
    """The same command with small values."""
    small = [SMALLER.get(option, word) for option, word in zip(["", *words], words, strict=False)]
    for option in {"train": ("-b", "-e"), "sweep": ()}.get(words[0], ("-b",)):
        small += [] if option in words else [option, SMALLER[option]]
    return [*small, "--limit-batches", "3"]


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_runs(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    rows = (f"{hour},{hour % 24},{20 - hour % 7}" for hour in range(1_000))
    (tmp_path / "load.csv").write_text("\n".join(["hour,load,temperature", *rows]))
    assert main(smaller(command.split()[1:])) == 0, capsys.readouterr().err
