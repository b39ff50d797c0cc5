"""Every command that trains in any page runs, at a small size."""

from pathlib import Path

import pytest
import torch

from tests.data.test_images import write_cifar10, write_mnist
from tests.data.test_series import write_series
from tests.docs.pages import pages
from torchspeed.cli.main import main

SMALLER = {
    "-e": "1",
    "--epochs": "1",
    "--devices": "1",
    "--device": "cpu",
    "--limit-batches": "3",
}
"""Option to the value that makes a documented command small."""
SMALLER_IN_SWEEPS = SMALLER | {"--target-accuracy": "1"}
SWEPT = {"-b": ["4", "8"], "-w": ["0", "1"]}
"""Option of a sweep to small values; of each that is documented, two at most are swept."""


RUN = ("train", "inference", "smooth-inference", "sweep", "reproduce")


def documented() -> list[str]:
    """The commands in the pages, without those that others contain with more options."""
    commands = {
        command
        for page in pages()
        if page.name != "CHANGELOG.md"  # it tells of commands that went too
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
    """The same command with small values, and small dummy data."""
    if words[0] == "reproduce":
        small = [word for word in words if word not in {"--full", "--device", "cuda"}]
        return [*small, "--limit-batches", "2"]
    values = SMALLER_IN_SWEEPS if words[0] == "sweep" else SMALLER | {"-b": "4"}
    words = list(words)
    for place, word in enumerate(words[:-1]):
        if word in values:
            words[place + 1] = values[word]
        elif words[0] == "sweep" and word in SWEPT:
            words[place + 1] = ",".join(SWEPT[word][: 1 + words[place + 1].count(",")])
    if words[0] == "train" and "-e" not in words:
        words += ["-e", "1"]
    if "-b" not in words and words[0] != "sweep":
        words += ["-b", "4"]
    if "resnet50" in words:
        words += ["--image-size", "64", "--items", "60"]
    return [*words, *([] if "--limit-batches" in words else ["--limit-batches", "3"])]


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_runs(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    write_mnist(tmp_path / "data" / "MNIST" / "raw", train=400, test=300)
    write_series(tmp_path / "data" / "exchange_rate.txt.gz", rows=7588)
    write_cifar10(tmp_path / "data", monkeypatch, items=8)
    assert main(smaller(command.split()[1:])) == 0, capsys.readouterr().err
