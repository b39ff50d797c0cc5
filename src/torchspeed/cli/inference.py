"""``torchspeed inference`` and ``torchspeed smooth-inference``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from torchspeed.cli import training_options as o

EXAMPLES = """
Examples:\n
  torchspeed inference -m resnet50 -d imagenet --data-dir /data/imagenet -w 4\n
  torchspeed inference -m lstnet --json lstnet.json
"""

SMOOTH_EXAMPLES = """
Examples:\n
  torchspeed smooth-inference -m resnet50 -d dummy --limit-batches 20 --device cuda\n
  torchspeed smooth-inference -m lenet5 --passes 10
"""


@o.takes(o.RUN, o.DATA, o.DEVICE, o.OUTPUT)
def inference(context: typer.Context, **options: Any) -> None:
    """Pass over the test items once, with the time of each phase."""
    from torchspeed.cli.configure import configure
    from torchspeed.cli.ranks import as_ranks
    from torchspeed.training.run import infer

    config = configure(options)

    def start(observer: Any, group: Any) -> Any:
        return infer(config, observer=observer, group=group)

    as_ranks("inference", config, start, context.obj, options)


@o.takes(o.RUN, o.DATA, o.DEVICE, o.OUTPUT, without=("workers",))
def smooth_inference(
    context: typer.Context,
    *,
    passes: Annotated[int, typer.Option(min=1, help="Forward passes per item.")] = 1,
    **options: Any,
) -> None:
    """Repeat each test item to a full batch, add noise of 0.25, and pass it forward."""
    from torchspeed.cli.configure import configure
    from torchspeed.cli.ranks import as_ranks
    from torchspeed.training.run import infer_smoothly

    config = configure(options)

    def start(observer: Any, group: Any) -> Any:
        return infer_smoothly(config, passes=passes, observer=observer, group=group)

    as_ranks("smooth-inference", config, start, context.obj, options)
