"""Serves the published site on this machine."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from asv_watch.asv.settings import read_configuration
from asv_watch.errors import WatchError


def preview(root: Path, *, host: str, port: int) -> None:
    """Serve the site until interrupted.

    Args:
        root: the checkout.
        host: address to listen on.
        port: TCP port; 0 for a free one.

    Raises:
        WatchError: no site was published yet, or nothing can listen there.
    """
    site = read_configuration(root).site
    if not (site / "index.html").is_file():
        raise WatchError(f"{site} holds no site yet; run `make publish`")
    try:
        server = ThreadingHTTPServer((host, port), partial(_Handler, directory=str(site)))
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


class _Handler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""
