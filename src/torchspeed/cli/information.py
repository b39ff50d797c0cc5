"""``torchspeed list`` and ``torchspeed info``."""

import platform
from importlib import metadata
from typing import Any

from rich.table import Table

from torchspeed.cli.options import add_command
from torchspeed.cli.show import make_table, standard_output
from torchspeed.data.options import DATA
from torchspeed.workloads import get_workload, list_workloads


def add_commands(commands: Any) -> None:
    """Add the commands to the command line."""
    add_command(commands, "list", list_names)
    add_command(commands, "info", info)


def list_names(_options: dict[str, Any]) -> None:
    """List models and data sets."""
    console = standard_output()
    models = make_table("models", "name", "family", "input", "configuration from")
    for name in list_workloads():
        workload = get_workload(name)
        shape = " x ".join(map(str, workload.input_shape))
        models.add_row(name, workload.family, shape, workload.source)
    console.print(models)
    data = make_table("data", "name", "kind", "what")
    for name, described in DATA.items():
        data.add_row(name, *described)
    console.print(data)


def info(_options: dict[str, Any]) -> None:
    """Show this machine, the versions and the devices."""
    table = Table(show_header=False)
    for name, value in facts().items():
        table.add_row(name, value)
    standard_output().print(table)


def facts() -> dict[str, str]:
    """Machine, versions and devices, as text by name."""
    import cpuinfo
    import psutil
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": str(cpuinfo.get_cpu_info().get("brand_raw", "unknown")),
        "ram": f"{round(psutil.virtual_memory().total / 1024**3)} GiB",
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "torchvision": metadata.version("torchvision"),
        "physical cores": str(psutil.cpu_count(logical=False)),
        "threads": str(torch.get_num_threads()),
        "cuda": torch.version.cuda or "not in this build",
        "gpus": ", ".join(torch.cuda.get_device_name(n) for n in range(count)) or "none",
    }
