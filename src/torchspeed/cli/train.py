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


def train(
    context: typer.Context,
    *,
    model: o.Model = "lenet5",
    data: o.Data = None,
    batch_size: o.BatchSize = 128,
    limit_batches: o.LimitBatches = None,
    warmup: o.Warmup = 1,
    seed: o.Seed = 0,
    epochs: o.Epochs = 1,
    optimiser: o.OptimiserOption = o.Optimiser.SGD,
    rate: o.Rate = 0.01,
    momentum: o.Momentum = 0.9,
    weight_decay: o.WeightDecay = 0.0,
    schedule: o.ScheduleOption = o.Schedule.CONSTANT,
    schedule_epochs: o.ScheduleEpochs = None,
    target_accuracy: o.TargetAccuracy = None,
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
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Keep the state there after each epoch.", rich_help_panel="Output"),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from --checkpoint.", rich_help_panel="Output"),
    ] = False,
    json: o.Json = None,
    baseline: o.Baseline = None,
    quiet: o.Quiet = False,
) -> None:
    """Train a model, with the time of each phase and the time to accuracy."""
    values = {name: value for name, value in locals().items() if name != "context"}
    # After the options are understood: torch takes seconds to import.
    from torchspeed.cli.configure import check_writable, configure
    from torchspeed.cli.ranks import as_ranks
    from torchspeed.errors import TorchspeedError
    from torchspeed.training.run import train as run

    if resume and checkpoint is None:
        raise TorchspeedError("--resume needs --checkpoint FILE to go on from")
    check_writable(checkpoint)
    config = configure(values)

    def start(observer: Any, group: Any) -> Any:
        return run(config, observer=observer, checkpoint=checkpoint, resume=resume, group=group)

    as_ranks("train", config, start, context.obj, values)
