"""``torchspeed inference`` and ``torchspeed smooth-inference``."""

from __future__ import annotations

from pathlib import Path
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


def inference(
    context: typer.Context,
    *,
    model: o.Model = "lenet5",
    data: o.Data = None,
    batch_size: o.BatchSize = 128,
    limit_batches: o.LimitBatches = None,
    warmup: o.Warmup = 1,
    seed: o.Seed = 0,
    data_dir: o.DataDir = Path("data"),
    download: o.Download = False,
    workers: o.Workers = 0,
    image_size: o.ImageSize = None,
    items: o.Items = None,
    features: o.Features = None,
    window: o.Window = 10,
    horizon: o.Horizon = 15,
    target: o.Target = "first",
    device: o.Device = "cpu",
    devices: o.Devices = 1,
    strategy: o.StrategyOption = o.Strategy.AUTO,
    precision: o.PrecisionOption = o.Precision.FLOAT32,
    json: o.Json = None,
    baseline: o.Baseline = None,
    quiet: o.Quiet = False,
) -> None:
    """Pass over the test items once, with the time of each phase."""
    values = {name: value for name, value in locals().items() if name != "context"}
    from torchspeed.cli.configure import configure
    from torchspeed.cli.ranks import as_ranks
    from torchspeed.training.run import infer

    config = configure(values)

    def start(observer: Any, group: Any) -> Any:
        return infer(config, observer=observer, group=group)

    as_ranks("inference", config, start, context.obj, values)


def smooth_inference(
    context: typer.Context,
    *,
    model: o.Model = "lenet5",
    data: o.Data = None,
    batch_size: o.BatchSize = 128,
    passes: Annotated[int, typer.Option(min=1, help="Forward passes an item.")] = 1,
    limit_batches: o.LimitBatches = None,
    warmup: o.Warmup = 1,
    seed: o.Seed = 0,
    data_dir: o.DataDir = Path("data"),
    download: o.Download = False,
    image_size: o.ImageSize = None,
    items: o.Items = None,
    features: o.Features = None,
    window: o.Window = 10,
    horizon: o.Horizon = 15,
    target: o.Target = "first",
    device: o.Device = "cpu",
    devices: o.Devices = 1,
    strategy: o.StrategyOption = o.Strategy.AUTO,
    precision: o.PrecisionOption = o.Precision.FLOAT32,
    json: o.Json = None,
    baseline: o.Baseline = None,
    quiet: o.Quiet = False,
) -> None:
    """Repeat each test item to a full batch, add noise of 0.25, and pass it forward."""
    values = {name: value for name, value in locals().items() if name != "context"}
    from torchspeed.cli.configure import configure
    from torchspeed.cli.ranks import as_ranks
    from torchspeed.training.run import infer_smoothly

    config = configure(values)

    def start(observer: Any, group: Any) -> Any:
        return infer_smoothly(config, passes=passes, observer=observer, group=group)

    as_ranks("smooth-inference", config, start, context.obj, values)
