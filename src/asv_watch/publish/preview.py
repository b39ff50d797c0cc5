"""Serves the published site on this machine."""

from __future__ import annotations

import ipaddress
import re
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from asv_watch.asv.settings import load_settings
from asv_watch.errors import WatchError


def preview(
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines see the site.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one.")
    ] = 8080,
) -> None:
    """Serve the site until interrupted.

    Raises:
        WatchError: no site was published yet, or nothing can listen there.
    """
    if not host:
        raise WatchError("--host is empty; give 127.0.0.1, or 0.0.0.0 to serve every address")
    site = Path(load_settings(Path.cwd()).html_dir)
    if not (site / "index.html").is_file():
        raise WatchError(f"{site} holds no site yet; run `asv-watch publish`")
    try:
        server = _Server((host, port), partial(_Handler, host, directory=str(site)))
    except OSError as error:
        raise WatchError(
            f"nothing can listen on {host} port {port} ({error.strerror}); "
            "choose another --host or --port"
        ) from error
    with server:
        print(f"http://{host}:{server.server_port}/ until Ctrl-C", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


class _Server(ThreadingHTTPServer):
    """Serves files; a browser that goes away is no error."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing where the connection ended, and the traceback of a defect otherwise."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def __init__(self, host: str, *arguments: Any, **options: Any) -> None:
        self._host = host
        super().__init__(*arguments, **options)

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Open the file; refuse what no browser asks for on behalf of this site.

        A page of another site can let its own name lead here, and would then read what is served.
        Only addresses, ``localhost`` and the host that was chosen are names of this server.
        """
        name = re.sub(r":\d+$", "", self.headers.get("Host", ""))
        if not _is_address(name) and name not in {"localhost", self._host}:
            self.send_error(403, "Unknown host name")
            return None
        try:
            return super().send_head()
        except ValueError:  # such as a null in the path
            self.send_error(404, "File not found")
            return None

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def _is_address(name: str) -> bool:
    """Tell whether a host is given by its number, which no other site can claim."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
