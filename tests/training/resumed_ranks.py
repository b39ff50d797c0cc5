"""``python -m tests.training.resumed_ranks FOLDER``: two ranks train, and resume a run.

It is a process of its own, because torch does not fork after a backward pass.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch.multiprocessing.spawn import start_processes

from torchspeed.data.options import DataOptions
from torchspeed.training.config import RunConfig
from torchspeed.training.group import end_rank, join_group, leave_group
from torchspeed.training.train import train


def train_in_ranks(config: RunConfig, folder: Path, **options: Any) -> list[list[float]]:
    """Train in two ranks and return the losses of the epochs of each."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    start_processes(_train, (config, port, folder, options), nprocs=2, start_method="fork")
    return [json.loads(_losses(folder, rank).read_text()) for rank in (0, 1)]


def _train(rank: int, config: RunConfig, port: int, folder: Path, options: dict[str, Any]) -> None:
    variables = {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in variables.items()})
    result = train(config, group=join_group("cpu"), **options)
    leave_group()
    _losses(folder, rank).write_text(json.dumps([epoch.train_loss for epoch in result.epochs]))
    end_rank(0)


def _losses(folder: Path, rank: int) -> Path:
    return folder / f"losses-{rank}.json"


def main(folder: Path) -> None:
    """Write the losses of a whole run, of its first epoch, and of the run resumed after it.

    The five test items are two batches of one rank and one of the other.
    """
    config = RunConfig(
        model="squeezenet1_1",
        data="dummy",
        data_options=DataOptions(items=25),
        image_size=64,
        batch_size=2,
        clip_norm=1.0,
        epochs=2,
        limit_batches=3,
    )
    checkpoint = folder / "run.pt"
    losses = [
        train_in_ranks(config, folder),
        train_in_ranks(replace(config, epochs=1), folder, checkpoint=checkpoint),
        train_in_ranks(config, folder, checkpoint=checkpoint, resume=True),
    ]
    (folder / "losses.json").write_text(json.dumps(losses))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
