"""``torchspeed list`` and ``torchspeed info``."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.table import Table

from torchspeed.cli.console import standard_output
from torchspeed.data.catalogue import DATA
from torchspeed.published import PublishedSource, load_sources
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


def info(
    published: Annotated[
        bool,
        typer.Option("--published", help="Show values that others published instead."),
    ] = False,
) -> None:
    """Show this machine, the versions and the devices."""
    console = standard_output()
    if published:
        for source in load_sources():
            show_source(source, console)
        return
    from torchspeed.cli.facts import facts

    table = Table(show_header=False)
    for name, value in facts().items():
        table.add_row(name, value)
    console.print(table)


def show_source(source: PublishedSource, console: Console) -> None:
    """Show a document's values, table by table, and how to do the same here."""
    console.rule(f"{source.title}, {source.authors}, {source.date}")
    console.print(f"{source.url}\n{source.work}\n", highlight=False)
    console.print("How it differs:", highlight=False)
    for difference in source.differences:
        console.print(f"- {difference}", highlight=False)
    for title, values in groupby(source.values, key=lambda published: published.table):
        rows = list(values)
        shown = [label for label in rows[0].labels if len({f.labels[label] for f in rows}) > 1]
        table = Table(
            "hardware", *shown, "quantity", "published", title=title, title_justify="left"
        )
        table.caption = rows[0].note or None
        for published in rows:
            number = f"{published.value:.6g} {published.unit}"
            labels = (published.labels[label] for label in shown)
            table.add_row(published.hardware.name, *labels, published.quantity, number)
        console.print(table)
        console.print(f"here: {rows[0].command or rows[0].case}\n", highlight=False)
