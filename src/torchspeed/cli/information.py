"""``torchspeed list`` and ``torchspeed info``."""

from __future__ import annotations

from typing import get_args

from rich.table import Table

from torchspeed.cli.console import standard_output
from torchspeed.data.catalogue import DATA
from torchspeed.training.config import Precision, Schedule


def list_names() -> None:
    """List models, data sets, optimisers, schedules and number formats."""
    from torchspeed.training.optimisers import OPTIMISERS
    from torchspeed.workloads import get_workload, list_workloads

    console = standard_output()
    models = Table(
        "name", "family", "input", "configuration from", title="models", title_justify="left"
    )
    for name in list_workloads():
        workload = get_workload(name)
        shape = " x ".join(map(str, workload.input_shape))
        models.add_row(name, workload.family, shape, workload.source)
    console.print(models)
    data = Table("name", "kind", "what", "needs", title="data", title_justify="left")
    for name, entry in DATA.items():
        data.add_row(name, entry.kind, entry.about, entry.needs)
    console.print(data)
    console.print(f"optimisers: {', '.join(sorted(OPTIMISERS))}")
    console.print(f"schedules: {', '.join(get_args(Schedule))}")
    console.print(f"precisions: {', '.join(get_args(Precision))}")


def info() -> None:
    """Show this machine, the versions and the devices."""
    from torchspeed.cli.facts import facts

    table = Table(show_header=False)
    for name, value in facts().items():
        table.add_row(name, value)
    standard_output().print(table)
