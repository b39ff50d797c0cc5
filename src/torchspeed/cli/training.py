"""``torchspeed train``, ``torchspeed inference`` and ``torchspeed smooth-inference``.

Torch takes seconds to import, so a function imports it after its options are understood.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from torchspeed.cli.options import takes
from torchspeed.cli.outputs import Outputs, check_writable
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import LEARNING, RunConfig
from torchspeed.training.cores import announce_run

TRAIN_EXAMPLES = """
Examples:\n
  torchspeed train  (LeNet on real digits, nothing to download)\n
  torchspeed train -m resnet18_mnist -d mnist --download -e 10 --target-accuracy 99\n
  torchspeed train -m darnn -d exchange_rate --download --window 10 --horizon 6\n
  torchspeed train -m resnet50 -d dummy --device cuda --precision bf16-mixed --devices 8
"""

INFERENCE_EXAMPLES = """
Examples:\n
  torchspeed inference -m resnet50 -d imagenet --data-dir /data/imagenet -w 4\n
  torchspeed inference -m lstnet --json lstnet.json
"""

SMOOTH_EXAMPLES = """
Examples:\n
  torchspeed smooth-inference -m resnet50 -d dummy --limit-batches 20 --device cuda\n
  torchspeed smooth-inference -m lenet5 --passes 10
"""


@takes(RunConfig, DataOptions, Outputs)
def train(
    *,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File for the state after each epoch.", rich_help_panel="Output"),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue from --checkpoint.", rich_help_panel="Output"),
    ] = False,
    save_best: Annotated[
        Path | None,
        typer.Option(help="File for the parameters of the best epoch.", rich_help_panel="Output"),
    ] = None,
    **options: Any,
) -> None:
    """Train a model, with the time of each phase and the time to accuracy."""
    announce_run()
    from torchspeed.cli.session import run_as_ranks
    from torchspeed.training.train import train as run

    if resume and checkpoint is None:
        raise TorchspeedError("--resume needs --checkpoint FILE to continue from")
    check_writable(checkpoint)
    check_writable(save_best)
    job = partial(run, checkpoint=checkpoint, resume=resume, save_best=save_best)
    run_as_ranks(job, options)


@takes(RunConfig, DataOptions, Outputs, without=(LEARNING,))
def inference(
    *,
    weights: Annotated[
        Path | None,
        typer.Option(help="Parameters to test: a file that --checkpoint or --save-best wrote."),
    ] = None,
    **options: Any,
) -> None:
    """Pass over the test items once, with the time of each phase."""
    announce_run()
    from torchspeed.cli.session import run_as_ranks
    from torchspeed.training.infer import infer

    run_as_ranks(partial(infer, weights=weights), options)


@takes(RunConfig, DataOptions, Outputs, without=(LEARNING,))
def smooth_inference(
    *,
    passes: Annotated[int, typer.Option(min=1, help="Forward passes per item.")] = 1,
    **options: Any,
) -> None:
    """Repeat each test item to a full batch, add noise of 0.25, and pass it forward."""
    announce_run()
    from torchspeed.cli.session import run_as_ranks
    from torchspeed.training.infer import infer_smoothly

    run_as_ranks(partial(infer_smoothly, passes=passes), options)
