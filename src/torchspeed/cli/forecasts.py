"""``torchspeed forecasts``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus

EXAMPLES = """
Examples:\n
  torchspeed forecasts exchange.jsonl --download\n
  torchspeed forecasts quick.jsonl --download -e 2 --horizons 3
"""


def forecasts(
    *,
    file: Annotated[
        Path,
        typer.Argument(help="File of outcomes, one JSON line each; an existing one is continued."),
    ],
    epochs: Annotated[int, typer.Option("--epochs", "-e", min=1)] = 20,
    horizons: Annotated[
        str, typer.Option(help="Days ahead, several with commas; those of the papers.")
    ] = "3,6,12,24",
    models: Annotated[str, typer.Option(help="Models, several with commas.")] = "lstnet,tpa_lstm",
    data_dir: Annotated[Path, typer.Option(help="Folder of the data.")] = Path("data"),
    download: Annotated[
        bool, typer.Option("--download", help="Download what is missing.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1)] = 0,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed ones again.")
    ] = False,
) -> int:
    """Forecast exchange rates as the papers of LSTNet and TPA-LSTM do; print a Markdown table."""
    from torchspeed.cli.configure import check_writable, read_values
    from torchspeed.cli.sweep import Announcer
    from torchspeed.data.load import load_data
    from torchspeed.data.options import DataOptions
    from torchspeed.training.paper_forecasts import arguments, markdown, points
    from torchspeed.training.sweep import Sweep

    check_writable(file)
    wanted = points(
        read_values("--models", models, str, "names"),
        read_values("--horizons", horizons, int, "whole numbers"),
    )
    load_data("exchange_rate", DataOptions(folder=data_dir, download=download))
    runs = Sweep(file, arguments(epochs, str(data_dir), seed))
    if retry_failed:
        runs.forget_failures()
    outcomes = runs.run(wanted, Announcer(len(wanted), ("model", "horizon")))
    print(markdown(outcomes))
    failed = [outcome.reason for outcome in outcomes if outcome.result is None]
    if len(failed) == len(outcomes):
        raise TorchspeedError(
            f"every run failed ({failed[0]}); mend that, then run the same with --retry-failed"
        )
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE
