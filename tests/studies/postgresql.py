"""A PostgreSQL server of Debian's for the time of a test."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server on a socket of its own, yield the address of its database, and stop it."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
    if programs is None:
        pytest.skip("needs postgresql")
    # PostgreSQL refuses to run as root, and Debian's user cannot enter root's folders.
    is_root = os.getuid() == 0
    owner = pwd.getpwnam("postgres") if is_root else pwd.getpwuid(os.getuid())
    folder = Path(tempfile.mkdtemp(prefix="torchspeed-", dir=owner.pw_dir if is_root else None))
    shutil.chown(folder, owner.pw_uid)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs.with_name(program)), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command, user=owner.pw_uid, cwd=folder, check=True, stdout=subprocess.DEVNULL
        )

    try:
        run("initdb", "-A", "trust", "-U", owner.pw_name)
        settings = f"-k {folder} -c listen_addresses= -c fsync=off"
        run("pg_ctl", "-w", "-o", settings, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://{owner.pw_name}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
