"""Serves the published site on this machine, for the person who sits at it.

The server listens on the loopback address, so that nobody else in the network reads the site. A
page from elsewhere could still reach it through a name of its own that resolves to this machine
(DNS rebinding), so requests are answered only where they name this machine.
"""

from __future__ import annotations

import ipaddress
import socket
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from asv_watch.asv.settings import load_settings
from asv_watch.errors import ExitStatus, WatchError

LOOPBACK = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    """Answers requests for files of the site that name this machine."""

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Send the headers of a file, or refuse a request that names another host."""
        if not names_this_machine(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.FORBIDDEN, "the request names another host")
            return None
        return super().send_head()

    def list_directory(self, path: object) -> None:
        """Refuse to list a folder."""
        self.send_error(HTTPStatus.NOT_FOUND, "there is no such page")

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing: a browser asks for many files."""


def names_this_machine(host: str) -> bool:
    """Tell whether a request's ``Host`` is an address, or one of this machine's own names."""
    name = host.strip().lower()
    name = name[1 : name.find("]")] if name.startswith("[") else name.partition(":")[0]
    if name in {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def open_server(site: Path, address: str, port: int) -> ThreadingHTTPServer:
    """Listen for requests, and answer none yet.

    Args:
        site: The folder that is served.
        address: `LOOPBACK`, or an address at which others reach this machine.
        port: The port's number; 0 for any that is free.

    Raises:
        WatchError: Nothing is published, or the address or port cannot be used.
    """
    if not (site / "index.html").is_file():
        raise WatchError(f"{site} holds no site; publish one first, with `asv-watch publish`")
    try:
        return _Server((address, port), partial(_Handler, directory=str(site)))
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not an address"
        raise WatchError(
            f"{address}:{port} cannot be listened on ({reason}); "
            "choose another --port or --address"
        ) from error


def preview(
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for one that is free.")
    ] = 0,
    address: Annotated[
        str,
        typer.Option(
            help="Address to listen on; 0.0.0.0 lets others in the network read the site."
        ),
    ] = LOOPBACK,
) -> ExitStatus:
    """Serve the published site until Ctrl-C."""
    site = Path(load_settings(Path.cwd()).html_dir)
    with open_server(site, address, port) as server:
        host, chosen = server.server_address[:2]
        print(f"http://{host!s}:{chosen}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt as end:
            if str(end) not in {"", "SIGINT"}:
                raise
    return ExitStatus.DONE
