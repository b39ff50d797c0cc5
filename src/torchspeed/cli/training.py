"""``torchspeed train``, ``torchspeed inference`` and ``torchspeed smooth-inference``.

Torch takes seconds to import, so a function imports it after its options are understood.
"""

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
    Parser,
    add_command,
    add_run,
    add_training,
    check_writable,
    configure,
    picture,
)
from torchspeed.cli.show import show_run, standard_output
from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import unused_option

if TYPE_CHECKING:
    from torchspeed.training.results import RunResult

SCHEMA = 4
"""Version of the JSON of ``--json``: raised when a key changes its meaning or is removed."""


def add_commands(commands: Any) -> None:
    """Add the commands to the command line."""
    parser = add_command(commands, "train", train)
    add_run(parser)
    add_training(parser)
    output = _add_output(parser)
    output("--figure", type=picture, help="file for a picture of the losses, such as x.svg")
    output("--checkpoint", type=Path, help="file for the state after each epoch")
    output("--resume", action="store_true", help="continue from --checkpoint")

    parser = add_command(commands, "inference", inference)
    add_run(parser)
    about = "parameters to test: a file that --checkpoint wrote, or a state_dict"
    parser.add_argument("--weights", type=Path, help=about)
    _add_output(parser)

    parser = add_command(commands, "smooth-inference", smooth_inference)
    add_run(parser)
    _add_output(parser)


def _add_output(parser: Parser) -> Callable[..., Any]:
    output = parser.add_argument_group("output").add_argument
    output("--json", type=Path, help="write the result to this file too")
    output("-q", "--quiet", action="store_true", help="show no progress")
    return output


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
    from torchspeed.training.infer import infer

    _run(partial(infer, weights=options.get("weights")), options)


def smooth_inference(options: dict[str, Any]) -> None:
    """Repeat each test item to a full batch, add noise of 0.25, and pass it forward.

    Examples:
      torchspeed smooth-inference -m resnet50 -d dummy --limit-batches 20 --device cuda
    """
    from torchspeed.training.infer import infer_smoothly

    _run(infer_smoothly, options)


def _run(run: Callable[..., RunResult], options: dict[str, Any]) -> RunResult | None:
    """Run with progress, write the JSON, show the tables; other ranks than the first get None."""
    from torchspeed.cli.progress import RunProgress
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
        write_result(file, result.as_dict())
    show_run(result, standard_output())
    return result


def write_result(file: Path, values: dict[str, Any]) -> None:
    """Write a result as JSON, with the version and machine that it comes from."""
    origin = {
        "schema": SCHEMA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "torchspeed": metadata.version("torchspeed"),
    }
    values = origin | values | {"machine": facts()}
    text = json.dumps(values, indent=2, allow_nan=False, default=str)
    write_whole(file, f"{text}\n".encode())
