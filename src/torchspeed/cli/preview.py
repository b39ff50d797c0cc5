"""``torchspeed preview``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def preview(
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines see the site.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one.")
    ] = 8080,
) -> None:
    """Serve the published site until Ctrl-C."""
    from torchspeed.watch.jobs.preview import preview as job

    job(Path.cwd(), host=host, port=port)
