"""``torchspeed train``, ``torchspeed inference`` and ``torchspeed smooth-inference``."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchspeed.cli.information import facts
from torchspeed.cli.options import (
    add_command,
    add_run,
    add_training,
    check_writable,
    configure,
    picture,
)
from torchspeed.cli.show import RunProgress, show_run, standard_output
from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import unused_option

if TYPE_CHECKING:
    from torchspeed.training.results import RunResult

SCHEMA = 4
"""Version of the JSON of ``--json``: raised when a key changes its meaning or is removed."""


def add_commands(commands: Any) -> None:
    """Add the commands to the command line."""
    for run in (train, inference, smooth_inference):
        parser = add_command(commands, run.__name__.replace("_", "-"), run)
        add_run(parser)
        if run is train:
            add_training(parser)
        output = parser.add_argument_group("output").add_argument
        output("--json", type=Path, help="write the result to this file too")
        output("-q", "--quiet", action="store_true", help="show no progress")
        if run is train:
            output("--figure", type=picture, help="file for a picture of the losses: x.svg")
            output("--checkpoint", type=Path, help="file for the state after each epoch")
            output("--resume", action="store_true", help="continue from --checkpoint")
        elif run is inference:
            about = "parameters to test: a file that --checkpoint wrote, or a state_dict"
            parser.add_argument("--weights", type=Path, help=about)


def train(options: dict[str, Any]) -> None:
    """Train a model, with the time of each phase and the time to accuracy.

    Examples:
      torchspeed train                    # LeNet on real digits, nothing to download
      torchspeed train -m resnet18_mnist -d mnist --download -e 10 --target-accuracy 99
      torchspeed train -m darnn -d exchange_rate --download --window 10 --horizon 6
      torchrun --nproc-per-node 8 -m torchspeed.cli train -m resnet50 -d dummy --device cuda
    """
    chosen = {name: options[name] for name in ("checkpoint", "resume") if name in options}
    if "resume" in chosen and "checkpoint" not in chosen:
        raise TorchspeedError("--resume needs --checkpoint FILE to continue from")
    figure = options.get("figure")
    for file in (figure, chosen.get("checkpoint")):
        check_writable(file)
    from torchspeed.training.train import train as run

    result = _run(partial(run, **chosen), options)
    if result is not None and figure is not None:
        from torchspeed.studies.figures import draw_losses

        draw_losses(result, figure)
        print(figure)


def inference(options: dict[str, Any]) -> None:
    """Pass over the test items once, with the time of each phase.

    Examples:
      torchspeed inference -m resnet50 -d imagenet --data-dir /data/imagenet -w 4
      torchspeed inference -m lstnet --json lstnet.json
    """
    from torchspeed.training.run import infer

    _run(partial(infer, weights=options.get("weights")), options)


def smooth_inference(options: dict[str, Any]) -> None:
    """Repeat each test item to a full batch, add noise of 0.25, and pass it forward.

    Examples:
      torchspeed smooth-inference -m resnet50 -d dummy --limit-batches 20 --device cuda
    """
    from torchspeed.training.run import infer_smoothly

    _run(infer_smoothly, options)


def _run(run: Callable[..., RunResult], options: dict[str, Any]) -> RunResult | None:
    """Run with progress, write the JSON, show the tables; other ranks than the first get None."""
    from torchspeed.training import ranks

    config = configure(options)
    if unused := unused_option(config):
        raise TorchspeedError(unused)
    file = options.get("json")
    check_writable(file)
    ranks.join(config.device)
    leads = ranks.rank() == 0
    try:
        if "quiet" in options or not leads:
            result = run(config)
        else:
            with closing(RunProgress()) as progress:
                result = run(config, observer=progress)
    except (MemoryError, RuntimeError) as error:
        import torch

        # The CPU's allocator raises a plain RuntimeError; only its text says which error it is.
        of_memory = isinstance(error, torch.OutOfMemoryError | MemoryError)
        if not of_memory and "DefaultCPUAllocator" not in str(error):
            raise
        raise TorchspeedError(
            f"not enough memory on {config.device}; give a smaller --batch-size"
        ) from None
    ranks.leave()
    if not leads:
        return None
    if file is not None:
        origin = {
            "schema": SCHEMA,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "torchspeed": metadata.version("torchspeed"),
        }
        values = origin | result.as_dict() | {"machine": facts()}
        text = json.dumps(values, indent=2, allow_nan=False)
        write_whole(file, f"{text}\n".encode())
    show_run(result, standard_output())
    return result
