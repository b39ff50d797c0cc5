"""A package index that answers late, by halves, with something else, or never comes to an end."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest

from asv_watch.asv.commands import run_command
from asv_watch.errors import MachineError
from tests.servers import Quiet, served

INSTALL = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
WHEEL = "/torch-0.0.7-py3-none-any.whl"
LIST = f'<a href="{WHEEL}">{WHEEL[1:]}</a>'.encode()


@contextmanager
def index(kind: str) -> Iterator[str]:
    """Serve an index; give its address."""
    closed = threading.Event()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            missing = 999 * (kind in {"cut off", "endless"})
            self.send_response(503 if kind == "error" else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(LIST) + missing))
            self.end_headers()
            self.wfile.write(LIST)
            while kind == "endless" and not closed.wait(0.2):
                self.wfile.write(b" ")

    with served(Handler) as address:
        try:
            yield f"http://{address}/simple"
        finally:
            closed.set()


@pytest.mark.parametrize(
    ("kind", "timeout_s", "reason"),
    [
        ("error", 60, "torch===0.0.7 .*the package index names no version of it"),
        ("cut off", 60, "the package index answers slowly or wrongly"),
        ("endless", 15, "no answer after 15 s"),
    ],
)
def test_the_index_is_blamed(
    kind: str, timeout_s: float, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with index(kind) as address:
        for name, value in {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": address,
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_RETRIES": "0",
            "PIP_DEFAULT_TIMEOUT": "1",
            "PIP_NO_CACHE_DIR": "1",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(MachineError, match=reason) as error:
            run_command([*INSTALL, "torch===0.0.7"], timeout_s, installs=True)
    assert "\n" not in str(error.value)
