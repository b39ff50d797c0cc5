"""The command as a person meets it: its door in this process, or a process of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torchvision import datasets

from torchspeed.cli.main import main

ROOT = Path(__file__).parents[2]
QUICK = ["-m", "lenet5", "--limit-batches", "3", "-b", "32", "--quiet"]


def torchspeed(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-m", "torchspeed.cli", *arguments],
        capture_output=True,
        text=True,
        env={**environment, **variables},
        timeout=120,
        check=False,
    )


@pytest.fixture(autouse=True)
def _wide_and_single_threaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    torch.set_num_threads(1)


def run(*arguments: str) -> int:
    return main(list(arguments))


def run_json(tmp_path: Path, *arguments: str) -> Any:
    file = tmp_path / "result.json"
    assert run(*arguments, "--json", str(file)) == 0
    return json.loads(file.read_text())


def test_train_shows_phases_epochs_and_time_to_accuracy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_json(tmp_path, "train", *QUICK, "-e", "2", "--target-accuracy", "100")
    shown = capsys.readouterr().out
    for text in ("data loading", "data processing", "forward", "backward", "median a step", "IQR",
                 "time to 100.00 % on test", "not reached", "best training accuracy",
                 "total data loading time", "total epoch training time",
                 "total training function time", "average training loss"):  # fmt: skip
        assert text in shown
    assert [epoch["number"] for epoch in result["epochs"]] == [1, 2]
    assert result["machine"]["torch"] == torch.__version__.split("+", maxsplit=1)[0]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The configuration of a run without further options."""
    return run_json(tmp_path_factory.mktemp("usual"), "train", *QUICK)["config"]


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (["--optimiser", "adam"], {"optimiser": "adam"}),
        (["--optimizer", "adam", "--lr", "0.5"], {"optimiser": "adam", "rate": 0.5}),
        (["--momentum", "0", "--weight-decay", "0.1"], {"momentum": 0.0, "weight_decay": 0.1}),
        (["--schedule", "cosine"], {"schedule": "cosine"}),
        (["--schedule", "step", "-e", "2"], {"schedule": "step", "epochs": 2}),
        (["--precision", "bf16-mixed"], {"precision": "bf16-mixed"}),
        (["--precision", "16-mixed"], {"precision": "16-mixed"}),
        (["--seed", "7"], {"seed": 7}),
        (["--workers", "1"], {"workers": 1}),
        (["--warmup", "0"], {"warmup": 0}),
        (["--target-accuracy", "5"], {"target_accuracy": 0.05}),
        (["--device", "cpu", "--devices", "1", "--strategy", "single"], {"device": "cpu"}),
        (["-d", "dummy", "--items", "99"], {"data": "dummy"}),
    ],
)
def test_every_option_reaches_the_run(
    tmp_path: Path, usual: dict[str, object], options: list[str], changed: dict[str, object]
) -> None:
    config = run_json(tmp_path, "train", *QUICK, *options)["config"]
    for name, value in changed.items():
        assert usual[name] != value or name == "device"
        assert config[name] == value
    same = set(usual) - set(changed) - {"data_options"}
    assert {name: config[name] for name in same} == {name: usual[name] for name in same}


def test_options_of_a_series_reach_the_data(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,c\n" + "".join(f"{i},{i % 7},{i * i}\n" for i in range(300)))
    options = ["-m", "tpa_lstm", "-q", "--window", "6", "--horizon", "8", "-b", "16"]
    result = run_json(tmp_path, "train", "-d", f"csv:{table}", "--target", "c", *options)
    read = result["config"]["data_options"]
    assert (read["window"], read["horizon"], read["target"]) == (6, 8, "c")
    assert result["accuracy"] is None
    dummy = run_json(
        tmp_path, "inference", "-d", "dummy", "--features", "3", "--items", "500", *options
    )
    assert dummy["parameters"] == result["parameters"]


def test_data_options_reach_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", "-m", "darnn", "-d", "solar", "--data-dir", str(tmp_path)) == 1
    assert str(tmp_path / "solar_AL.txt.gz") in capsys.readouterr().err
    images = ["-m", "squeezenet1_1", "-d", "dummy", "--items", "20", "-b", "2", "-q"]
    result = run_json(tmp_path, "inference", *images, "--image-size", "48")
    assert result["config"]["image_size"] == 48


def test_download_is_tried_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.MNIST, "mirrors", ["http://127.0.0.1:9/"])
    arguments = ["train", "-d", "mnist", "--data-dir", str(tmp_path / "data")]
    assert run(*arguments) == 1
    assert not (tmp_path / "data").exists()
    assert "pass --download" in capsys.readouterr().err
    assert run(*arguments, "--download") == 1
    error = capsys.readouterr().err
    assert f"downloading mnist to {tmp_path / 'data'}" in error
    assert "could not be downloaded" in error.splitlines()[-1]


def test_sweep_keeps_failures_apart_and_retries_them_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sweep.jsonl"
    # No training ends within 10 ms: every point fails, at once.
    arguments = ["sweep", str(file), "-b", "16,32", "-w", "0", "--timeout", "0.01"]
    assert run(*arguments, "--figures", str(tmp_path)) == 1
    shown = capsys.readouterr()
    assert shown.out.count("took longer than 0.01 s") == 2
    *points, last = shown.err.splitlines()
    assert [line.split(":")[0] for line in points] == ["1 of 2", "2 of 2"]
    assert last.startswith("torchspeed: every point failed (took longer than 0.01 s); mend that")
    assert len(file.read_text().splitlines()) == 2
    assert run(*arguments) == 1
    assert capsys.readouterr().err.count("known") == 2
    assert run(*arguments, "--retry-failed", "--search", "1") == 1
    assert "1 of 1" in capsys.readouterr().err
    assert len(file.read_text().splitlines()) == 3
    assert run(*arguments, "-e", "2") == 1
    assert "give the same options, or another file" in capsys.readouterr().err


def test_default_data_are_real_and_need_no_download(tmp_path: Path) -> None:
    assert run_json(tmp_path, "train", *QUICK)["config"]["data"] == "digits"
    series = run_json(tmp_path, "inference", "-m", "lstnet", "-q", "-b", "32")
    assert series["config"]["data"] == "google_stock"


def test_inference_and_smooth_inference(tmp_path: Path) -> None:
    plain = run_json(tmp_path, "inference", *QUICK)
    assert (plain["mode"], plain["ranks"][0]["steps"]) == ("inference", 2)
    smooth = run_json(tmp_path, "smooth-inference", *QUICK, "--passes", "2")
    assert (smooth["mode"], smooth["ranks"][0]["items"]) == ("smooth-inference", 2 * 32)
    assert set(smooth["ranks"][0]["phases"]) == {"data loading", "data processing", "forward"}


def test_checkpoint_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = ["--checkpoint", str(tmp_path / "state.pt")]
    run_json(tmp_path, "train", *QUICK, *state)
    resumed = run_json(tmp_path, "train", *QUICK, *state, "--resume", "-e", "2")
    whole = run_json(tmp_path, "train", *QUICK, "-e", "2")
    assert [e["train_loss"] for e in resumed["epochs"]] == [
        e["train_loss"] for e in whole["epochs"]
    ]
    assert run("train", *QUICK, "--resume") == 1
    assert "--resume needs --checkpoint" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["trian"], 2, "Did you mean 'train'"),
        (["train", "--epoch", "3"], 2, "No such option: --epoch"),
        (["train", "-b", "0"], 2, "--batch-size '0': give a number of at least 1\n"),
        (["train", "-b", "many"], 2, "--batch-size 'many': give a whole number\n"),
        (["train", "--precision", "16"], 2, "--precision '16': give one of '32-true', '16-mixed'"),
        (["train", "--optimiser", "lion"], 2, "'sgd', 'adam'"),
        (["train", "--schedule", "warm"], 2, "'cosine'"),
        (["train", "--strategy", "dp"], 2, "'ddp'"),
        (["train", "--target-accuracy", "101"], 2, "'101': give a number of at most 100"),
        (["train", "extra"], 2, "unexpected extra argument"),
        (["train", "-m"], 2, "requires an argument"),
        (["train", "-m", "resnet"], 1, "did you mean resnet"),
        (["train", "-d", "minst"], 1, "did you mean mnist"),
        (["train", "--device", "cuda:7"], 1, "--device cpu"),
        (["train", "--device", "gpu"], 1, "must be 'cpu', 'cuda' or 'cuda:N'"),
        (["train", "--devices", "2", "--strategy", "single"], 1, "takes one device, not 2"),
        (["train", "--devices", "2", "--device", "cuda:1"], 1, "choose their own GPU"),
        (["train", "--devices", "0"], 1, "give a number, auto for all GPUs, or a list"),
        (["train", "--devices", "many"], 1, "give a number, auto for all GPUs, or a list"),
        (["train", "--devices", "0,1"], 1, "lists GPUs; give --device cuda too"),
        (["train", "--json", "/nowhere/x.json"], 1, "no folder /nowhere"),
        (["train", "--json", "/"], 1, "is a folder"),
        (["train", "--json", "/proc/x.json"], 1, "/proc/x.json cannot be written"),
        (["train", "--seed", "4294967296"], 2, "give a number of at most 4294967295"),
        (["train", "-w", "100000"], 1, "or fewer"),
        (["inference", "-b", "1000000000000"], 1, "or less"),
        (["train", "--checkpoint", "/nowhere/x.pt"], 1, "no folder /nowhere"),
        (["train", "-d", "csv:/nowhere/x.csv", "-m", "darnn"], 1, "no file /nowhere/x.csv"),
        (["train", "--baseline", "/nowhere/x.json"], 1, "baseline /nowhere/x.json cannot be"),
        (["sweep"], 2, "Missing argument 'file'"),
        (["sweep", "x.jsonl", "-w", "0,many"], 1, "give whole numbers, separated by commas"),
        (["sweep", "x.jsonl", "-b", "32,32"], 1, "names a value twice"),
        (["sweep", "x.jsonl", "--optimiser", "lion"], 1, "give sgd or adam"),
        (["sweep", "/nowhere/x.jsonl"], 1, "no folder /nowhere"),
        (["sweep", "x.jsonl", "--figures", "/nowhere"], 1, "no folder /nowhere"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == status
    error = capsys.readouterr().err
    assert error.startswith("torchspeed: ")
    assert error.count("\n") == 1
    assert message in error


def test_the_same_from_a_process_without_traceback() -> None:
    done = torchspeed("train", "--data", "cifar")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "torchspeed: no data set 'cifar'; did you mean cifar10 or solar?\n"


def test_an_interrupted_run_is_one_line() -> None:
    # A shell's background jobs ignore Ctrl-C and hand that on: this one does not.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from torchspeed.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "train", "-d", "dummy", "-e", "100000"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
    )
    with process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("epoch 1:")
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read().splitlines()
    assert [line for line in errors if not line.startswith("epoch")] == ["torchspeed: interrupted"]
    assert process.returncode == 130


def test_an_interrupt_while_python_imports_is_one_line() -> None:
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "torchspeed.cli", "list"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            if "typer" in line:  # long before the command could answer for itself
                break
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read().splitlines()
    errors = [line for line in errors if not line.startswith("import time:")]
    assert errors == ["torchspeed: interrupted"]
    assert process.returncode == 130


def test_the_command_works_without_standard_streams(tmp_path: Path) -> None:
    closed = 'exec "$@" <&- >&- 2>&-'
    command = [sys.executable, "-m", "torchspeed.cli", "train", *QUICK]
    written = tmp_path / "run.json"
    done = subprocess.run(
        ["sh", "-c", closed, "sh", *command, "--json", written],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(written.read_text())


def test_help_comes_without_torch_and_has_examples() -> None:
    # A torch that cannot be imported: help must not need it.
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from torchspeed.cli.main import main\n"
        "sys.exit(sum(main([command, '--help']) for command in sys.argv[1:]))"
    )
    commands = ("train", "inference", "smooth-inference", "sweep")
    done = subprocess.run(
        [sys.executable, "-c", code, *commands],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "160"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Examples:") == len(commands)
    for command in commands:
        assert f"  torchspeed {command} " in done.stdout


def test_shell_completion() -> None:
    words = {"COMP_WORDS": "torchspeed train --data ex", "COMP_CWORD": "3"}
    done = torchspeed(_TORCHSPEED_COMPLETE="complete_bash", **words)
    assert "exchange_rate" in done.stdout
    words = {"COMP_WORDS": "torchspeed train --model res", "COMP_CWORD": "3"}
    done = torchspeed(_TORCHSPEED_COMPLETE="complete_bash", **words)
    assert done.stdout.split() == ["resnet18_mnist", "resnet18", "resnet34", "resnet50"]


def test_list_and_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    listed = capsys.readouterr().out
    for name in ("darnn", "resnet50", "digits", "exchange_rate", "csv:FILE", "bf16-mixed"):
        assert name in listed
    assert run("info") == 0
    assert torch.__version__.split("+", maxsplit=1)[0] in capsys.readouterr().out


def test_published_figures_need_no_torch_and_say_how_they_differ() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from torchspeed.cli.main import main\n"
        "sys.exit(main(['info', '--published']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "160"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for text in ("13.808 s", "82.47 s", "0.2378 s", "98.517 %", "How it differs", "here: torchsp"):
        assert text in done.stdout


def test_progress_is_a_line_an_epoch_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("train", "-b", "64", "--limit-batches", "3", "-e", "2") == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1", "epoch 2"]
