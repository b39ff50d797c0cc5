"""``torchspeed latency``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from torchspeed.cli.options import complete_from, positive, read_values, takes
from torchspeed.cli.outputs import Outputs, check_writable, standard_output
from torchspeed.training.config import RunConfig
from torchspeed.workloads import list_workloads

EXAMPLES = """
Examples:\n
  torchspeed latency -m resnet18 -b 1,4,16 --threads 1,2\n
  torchspeed latency -m tpa_lstm -b 1,32,1024 --modes eager,compile --figure latency.svg
"""


@takes(RunConfig, Outputs, only=("device", "json"))
def latency(
    *,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            autocompletion=complete_from(list_workloads()),
            help="A name of `torchspeed list`.",
        ),
    ] = "lenet5",
    batch_sizes: Annotated[
        str,
        typer.Option("--batch-sizes", "-b", help="Batch sizes of requests, with commas between."),
    ] = "1,8,64",
    threads: Annotated[
        str, typer.Option(help="Numbers of threads for torch, with commas between.")
    ] = "1",
    modes: Annotated[
        str, typer.Option(help="Any of eager and compile, with a comma between.")
    ] = "eager",
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Seconds for each combination; 100 requests at least."),
    ] = 2.0,
    figure: Annotated[
        Path | None, typer.Option(help="File for the picture, such as latency.svg.")
    ] = None,
    **options: Any,
) -> None:
    """Measure latency percentiles and throughput of inference over batch sizes and threads."""
    from torchspeed.cli.session import write_result
    from torchspeed.cli.show import make_table
    from torchspeed.cli.show import seconds as shown
    from torchspeed.training.latency import measure_latency

    device, json = options["device"], options["json"]
    check_writable(figure)
    check_writable(json)
    progress = Console(stderr=True)
    results = measure_latency(
        model,
        device=device,
        modes=read_values("--modes", modes, str, "names"),
        batch_sizes=read_values("--batch-sizes", batch_sizes, positive, "positive numbers"),
        threads=read_values("--threads", threads, positive, "positive numbers"),
        seconds=seconds,
        on_result=lambda r: progress.print(
            f"{r.mode}, threads {r.threads}, batch {r.batch_size}: {shown(r.p50_s)}",
            highlight=False,
        ),
    )
    columns = ("threads", "batch", "requests", "p50", "p90", "p99", "items/s")
    table = make_table(f"latency of {model} on {device}", "mode", numbers=columns)
    for r in results:
        counts = (str(r.threads), str(r.batch_size), str(r.requests))
        times = map(shown, (r.p50_s, r.p90_s, r.p99_s))
        table.add_row(r.mode, *counts, *times, f"{r.items_per_s:,.0f}")
    standard_output().print(table)
    if figure is not None:
        from torchspeed.training.figures import draw_latency

        draw_latency(results, model, figure)
    if json is not None:
        values = {"mode": "latency", "model": model, "device": device}
        write_result(json, values | {"latencies": [asdict(result) for result in results]})
