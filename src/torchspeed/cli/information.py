"""``torchspeed list`` and ``torchspeed info``."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from torchspeed.data.catalogue import DATA


def list_names() -> None:
    """List models, data sets, optimisers, schedules and number formats."""
    from torchspeed.training.optimisers import OPTIMISERS, SCHEDULES  # noqa: PLC0415 - torch
    from torchspeed.training.precision import PRECISIONS  # noqa: PLC0415
    from torchspeed.workloads import get_workload, list_workloads  # noqa: PLC0415

    console = Console()
    models = Table(title="models", title_justify="left")
    for heading in ("name", "family", "input", "configuration from"):
        models.add_column(heading)
    for name in list_workloads():
        workload = get_workload(name)
        shape = " x ".join(map(str, workload.input_shape))
        models.add_row(name, workload.family, shape, workload.source)
    console.print(models)
    data = Table(title="data", title_justify="left")
    for heading in ("name", "kind", "what", "needs"):
        data.add_column(heading)
    for name, entry in DATA.items():
        data.add_row(name, entry.kind, entry.about, entry.needs)
    console.print(data)
    console.print(f"optimisers: {', '.join(OPTIMISERS)}")
    console.print(f"schedules: {', '.join(SCHEDULES)}")
    console.print(f"precisions: {', '.join(PRECISIONS)}")


def info() -> None:
    """Show this machine, the versions and the devices."""
    from torchspeed.cli.facts import facts  # noqa: PLC0415 - torch takes seconds

    table = Table(show_header=False)
    for name, value in facts().items():
        table.add_row(name, value)
    Console().print(table)
