"""``torchspeed train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from torchspeed.cli import training_options as o

EXAMPLES = """
Examples:\n
  torchspeed train  (LeNet on real digits, nothing to download)\n
  torchspeed train -m resnet18_mnist -d mnist --download -e 10 --target-accuracy 99\n
  torchspeed train -m darnn -d exchange_rate --download --window 10 --horizon 15\n
  torchspeed train -m resnet50 -d dummy --device cuda --precision bf16-mixed --devices 8
"""


@o.takes(o.RUN, o.LEARNING, o.DATA, o.DEVICE, o.OUTPUT)
def train(
    context: typer.Context,
    *,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Keep the state there after each epoch.", rich_help_panel="Output"),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue from --checkpoint.", rich_help_panel="Output"),
    ] = False,
    **options: Any,
) -> None:
    """Train a model, with the time of each phase and the time to accuracy."""
    # After the options are understood: torch takes seconds to import.
    from torchspeed.cli.configure import check_writable, configure
    from torchspeed.cli.ranks import as_ranks
    from torchspeed.errors import TorchspeedError
    from torchspeed.training.run import train as run

    if resume and checkpoint is None:
        raise TorchspeedError("--resume needs --checkpoint FILE to continue from")
    check_writable(checkpoint)
    config = configure(options)

    def start(observer: Any, group: Any) -> Any:
        return run(config, observer=observer, checkpoint=checkpoint, resume=resume, group=group)

    as_ranks("train", config, start, context.obj, options)
