"""Servers on this machine, for the time of a test."""

import functools
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Handler = Callable[..., socketserver.BaseRequestHandler]


class Quiet:
    """Lets a handler of requests print nothing."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


class _Files(Quiet, SimpleHTTPRequestHandler):
    """Answers with the files of a folder."""


@contextmanager
def served(handler: Handler) -> Iterator[str]:
    """Let a handler answer; yield the host and port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def files_of(folder: Path) -> AbstractContextManager[str]:
    """Serve the files of a folder."""
    return served(functools.partial(_Files, directory=str(folder)))
