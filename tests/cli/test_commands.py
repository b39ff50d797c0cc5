"""The command as a person meets it: its door in this process, or a process of its own."""

import json
import os
import re
import sys
import tomllib
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from packaging.requirements import Requirement
from rich.console import Console

from tests.conftest import ROOT, run
from tests.programs import modules_without
from torchspeed.cli.main import main
from torchspeed.cli.show import RunProgress
from torchspeed.training.config import RunConfig, complete
from torchspeed.training.train import train

FEW_STEPS = ["-m", "lenet5", "--limit-batches", "3", "-b", "32", "--quiet", "--threads", "1"]
QUICK = [*FEW_STEPS, "-e", "1"]
WITHOUT = """
import sys
sys.modules |= dict.fromkeys(sys.argv[1].split())  # None: as if they were not installed
from torchspeed.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def in_a_process(*arguments: str, **options: Any) -> str:
    """Run Python with this checkout's package; return what it prints as errors."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return run(sys.executable, *arguments, env=environment, **options).stderr


def run_json(tmp_path: Path, *arguments: str) -> Any:
    file = tmp_path / "result.json"
    assert main([*arguments, "--json", str(file)]) == 0
    return json.loads(file.read_text())


def test_train_shows_phases_and_epochs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "loss.svg"
    options = [*QUICK, "-e", "2", "--target-accuracy", "100", "--figure", str(figure)]
    result = run_json(tmp_path, "train", *options)
    shown = capsys.readouterr().out
    assert shown.endswith(f"{figure}\n")
    assert "<!-- held out -->" in figure.read_text()
    for text in ("data loading", "data processing", "forward", "backward", "median a step", "IQR",
                 "time to 100.00 % on test", "not reached", "best training accuracy",
                 "total data loading time", "total epoch training time",
                 "total training function time", "average training loss"):  # fmt: skip
        assert text in shown
    assert [epoch["number"] for epoch in result["epochs"]] == [1, 2]
    assert result["schema"] == 4
    assert datetime.fromisoformat(result["date"]).tzinfo is not None
    assert result["ranks"][0]["steps"] == 5
    assert result["machine"]["physical cores"].isdecimal()
    assert result["machine"]["torch"] == torch.__version__.split("+", maxsplit=1)[0]


def test_every_option_reaches_the_run(tmp_path: Path) -> None:
    options = ["--optimizer", "sgd", "--lr", "0.5", "--weight-decay", "0.1", "-e", "2", "-w", "1",
               "--patience", "2", "--mode", "eager", "--seed", "7", "--precision", "bf16-mixed",
               "--target-accuracy", "5", "-d", "dummy", "--items", "99",
               "--device", "cpu"]  # fmt: skip
    wanted = RunConfig(
        model="lenet5", batch_size=32, limit_batches=3, threads=1, optimiser="sgd", rate=0.5,
        weight_decay=0.1, epochs=2, workers=1, patience=2, mode="eager", seed=7, data="dummy",
        precision="bf16-mixed", target_accuracy=5.0,
    ).as_dict()  # fmt: skip
    config = run_json(tmp_path, "train", *FEW_STEPS, *options)["config"]
    assert config["data_options"]["items"] == 99
    assert config | {"data_options": {}} == wanted | {"data_options": {}}


def test_what_is_not_given_is_of_the_models_recipe_or_the_optimisers() -> None:
    config = complete(RunConfig())
    chosen = config.data, config.optimiser, config.rate, config.epochs
    assert chosen == ("digits", "adam", 0.003, 10)
    assert complete(RunConfig(optimiser="sgd")).rate == 0.01


def test_a_model_and_data_of_ones_own_train_and_keep_their_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("own_parts.py").write_text(
        "from torch import nn\n"
        "from torchspeed.data.embedded import load_digits as data\n"
        "def model(hidden=4):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.Linear(hidden, 10))\n"
    )
    own = ["-m", "own_parts:model", "-d", "own_parts:data", "--model-kwargs", "hidden=8"]
    options = [*own, "-q", "-b", "64"]
    trained = run_json(tmp_path, "train", *options, "-e", "2", "--checkpoint", "best.pt")
    assert trained["parameters"] == 64 * 8 + 8 + 8 * 10 + 10
    tested = run_json(tmp_path, "inference", *options, "--weights", "best.pt")
    assert tested["accuracy"] == trained["time_to_accuracy"]["best_test_accuracy"]
    wrong = ["inference", *own[:4], "-q", "--weights", "best.pt"]
    assert main(wrong) == 1
    assert "best.pt does not fit the model" in capsys.readouterr().err


def test_series_options_reach_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-m", "tpa_lstm", "-q", "--window", "6", "--horizon", "8", "-b", "16"]
    learns_nothing = ["--rate", "1e-30", "-e", "9", "--patience", "1"]
    data = ["-d", "lorenz", "--target", "z"]
    result = run_json(tmp_path, "train", *data, *learns_nothing, *options)
    stopped = "stopped after epoch 2: no improvement since epoch 1"
    assert f"{stopped}; --patience 0 trains all 9\n" in capsys.readouterr().out
    assert result["stopped"] == stopped
    read = result["config"]["data_options"]
    assert (read["window"], read["horizon"], read["target"]) == (6, 8, "z")
    assert result["accuracy"] is None
    dummy = ["-d", "dummy", "--features", "3", "--items", "500"]
    tested = run_json(tmp_path, "inference", *dummy, *options)
    assert tested["parameters"] == result["parameters"]
    assert run_json(tmp_path, "inference", *data, *options)["config"]["patience"] == 0


def test_inference_and_smooth_inference(tmp_path: Path) -> None:
    plain = run_json(tmp_path, "inference", *FEW_STEPS)
    assert (plain["command"], plain["ranks"][0]["steps"]) == ("inference", 2)
    smooth = run_json(tmp_path, "smooth-inference", *FEW_STEPS, "-w", "1")
    assert (smooth["command"], smooth["ranks"][0]["items"]) == ("smooth-inference", 2 * 32)
    assert "backward" not in smooth["ranks"][0]["phases"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "the following arguments are required: COMMAND"),
        (["train", "--epoch", "3"], 2, "unrecognized arguments: --epoch 3"),
        (["train", "-b", "0"], 2, "-b/--batch-size: '0': give a whole number from 1"),
        (["train", "--rate", "0"], 2, "--rate/--lr: '0': give a number from 1e-30"),
        (["train", "--threads", "9999"], 2, "'9999': give a whole number from 1 to 1,024"),
        (["train", "--items", "9" * 10], 2, "give a whole number from 5 to 2,147,483,647"),
        (["train", "--mode", "fast"], 2, "'fast': give tuned or eager or compiled or fastest"),
        (["train", "--figure", "x.xyz"], 2, "'x.xyz': give a file that ends in .svg, .png or"),
        (["sweep", "x.db", "-b", "32,32"], 2, "'32,32' names a value twice"),
        (["sweep", "x.db", "--optimiser", "sgd,sdg"], 2, "'sdg': give sgd or adam"),
        (["train", "--resume"], 1, "--resume needs --checkpoint FILE"),
        (["train", "--model-kwargs", "depth=7"], 1, "model 'lenet5' takes no 'depth'"),
        (["train", "-m", "darnn", "--model-kwargs", "window=3"], 1, "the data decide window"),
        (["train", "-m", "fractions:Fraction", "--model-kwargs", "a=1"], 1, "argument 'a';"),
        (["train", "-m", "nowhere:model"], 1, "nowhere:model: No module named 'nowhere'"),
        (["train", "--items", "9"], 1, "--items is for --data dummy, and this run takes digits"),
        (["train", "--window", "24"], 1, "--window is for a series, and digits holds images"),
        (["train", "-m", "lenet"], 1, "no workload 'lenet'; did you mean lenet5"),
        (["train", "-d", "el_nino"], 1, "lenet5 takes images, and el_nino is a series; choose"),
        (
            ["train", "-m", "darnn", "-d", "digits"],
            1,
            "darnn forecasts a series, and digits holds",
        ),
        (["train", "-m", "darnn", "--target-accuracy", "90"], 1, "forecast and has no accuracy"),
        (["train", "-m", "lstnet", "--window", "4"], 1, "kernel must be at most window, 4, got 6"),
        (["train", "-e", "1", "--limit-batches", "1"], 1, "the only step would be warm-up"),
        (["train", "--device", "gpu"], 1, "must be 'cpu', 'cuda' or 'cuda:N'"),
        (["train", "--json", "/nowhere/x.json"], 1, "no folder /nowhere"),
        (["inference", "--weights", "/nowhere/x.pt"], 1, "no checkpoint /nowhere/x.pt"),
        (["sweep", "/nowhere/x.db"], 1, "give a SQLite file in a folder that exists"),
        (["sweep", "postgresql://nobody@127.0.0.1:9/none"], 1, "cannot be opened"),
        (["sweep", "/nowhere/x.db", "--report"], 1, "no file /nowhere/x.db"),
        (["reproduce", "figure"], 1, "nothing published is called 'figure'; give workers, batch"),
        (["reproduce", "workers", "-d", "nope"], 1, "no data set 'nope'; did you mean lorenz?"),
        (["reproduce", "phases", "-m", "lenet5"], 1, "phases has its own model and data"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    shown, error = capsys.readouterr()
    assert error.startswith("torchspeed: ")
    assert (shown, error.count("\n")) == ("", 1)
    assert message in error


def test_progress_counts_the_steps_of_all_epochs() -> None:
    text = StringIO()
    console = Console(file=text, force_terminal=True, width=160, highlight=False)
    progress = RunProgress(console)
    train(RunConfig(epochs=7, limit_batches=3, batch_size=32), observer=progress)
    progress.close()
    assert " 0/21" in text.getvalue()
    assert re.search(r"epoch 7: .* s, training loss", text.getvalue())


def test_too_little_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torchspeed.training.train.train", lambda *_, **__: torch.empty(10**15))
    assert main(["train", "-q"]) == 1
    error = "torchspeed: not enough memory on cpu; give a smaller --batch-size\n"
    assert capsys.readouterr().err == error


def test_list_and_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    for name in ("darnn", "resnet50", "digits", "exchange_rate", "csv:FILE"):
        assert name in listed
    assert main(["info"]) == 0
    assert torch.__version__.split("+", maxsplit=1)[0] in capsys.readouterr().out


@pytest.mark.parametrize("argument", ["--version", "list"])
def test_a_closed_pipe_is_one_line(argument: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    error = in_a_process("-m", "torchspeed.cli", argument, stdout=writer, status=1)
    os.close(writer)
    assert error == "torchspeed: standard output was closed, so the job was stopped\n"


def test_nothing_but_the_documented_extras_is_needed_to_train(tmp_path: Path) -> None:
    extras = "measure,train"
    assert f"pip install '.[{extras}]'" in (ROOT / "docs" / "training.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"]]
    for extra in extras.split(","):
        wanted += project["optional-dependencies"][extra]
    absent = modules_without(Requirement(line).name for line in wanted)
    assert {"asv", "playwright"} <= set(absent)
    command = ["train", "--limit-batches", "2", "-e", "1", "-q", "--json", "result.json"]
    assert in_a_process("-c", WITHOUT, " ".join(absent), *command, cwd=tmp_path) == ""
    assert (tmp_path / "result.json").exists()
