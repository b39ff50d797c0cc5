"""A package index that answers late, by halves or with something else, as pip reports it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from asv_watch.asv.commands import find_cause

WHEEL = "/torch-0.0.7-py3-none-any.whl"
LIST = f'<a href="{WHEEL}">{WHEEL[1:]}</a>'.encode()


@contextmanager
def index(kind: str) -> Iterator[str]:
    """Serve an index; give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if kind == "late":
                time.sleep(5)
            content = b"\0<a href" * 99 if kind == "junk" else LIST
            if kind == "wrong wheel" and self.path == WHEEL:
                content = b"PK, but no archive"
            self.send_response(503 if kind == "error" else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(content) + 999 * (kind == "cut off")))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("kind", ["late", "error", "junk", "cut off", "wrong wheel"])
@pytest.mark.fault(
    "package index",
    tried="pip asks an index that answers late, with an error, junk, half a page or half a wheel",
    holds="the index is blamed, not the release",
)
def test_the_index_is_blamed(kind: str) -> None:
    with index(kind) as address:
        settings = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": address,
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_RETRIES": "0",
            "PIP_DEFAULT_TIMEOUT": "1",
            "PIP_NO_CACHE_DIR": "1",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "torch==0.0.7"],
            env=os.environ | settings,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert find_cause(done.stdout + done.stderr).is_place, done.stderr
