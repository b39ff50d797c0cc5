"""``python tools/try_codespeed.py MACHINE``: submit stored times to a real Codespeed server.

Installs Codespeed into a new virtual environment, starts it on this machine, runs
``asv-watch submit --codespeed`` in the current folder, with the login that the server asks for,
and prints what the server has stored.
Codespeed 0.13.0, its newest release, asks for ``django>=1.11<2.2``, which newer releases of
setuptools and wheel refuse to read; hence the old ones here. It runs with Django 2.2 and
Python 3.11.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PORT = 8123
ADDRESS = f"http://127.0.0.1:{PORT}"
BUILD = ("setuptools<58", "wheel==0.37.1", "pypandoc==1.5", "setuptools-markdown==0.4.1")
NEEDS = ("Django==2.2.28", "isodate", "matplotlib")
SETTINGS = """
from codespeed.settings import *
SECRET_KEY = "of nothing that lasts"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls_of_site"
CONTRIB = ["auth", "contenttypes", "sessions"]
INSTALLED_APPS = [*(f"django.contrib.{name}" for name in CONTRIB), "codespeed"]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware"]
ALLOW_ANONYMOUS_POST, REQUIRE_SECURE_AUTH = False, False
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "speed.sqlite"}}
"""
URLS = """
from django.urls import include, path
urlpatterns = [path("", include("codespeed.urls"))]
"""
LOGIN = "ann:of nothing that lasts"
ADD_MACHINE = """
import sys, django
django.setup()
from django.contrib.auth.models import User
name, password = sys.argv[2].split(":")
User.objects.create_user(name, password=password)
from codespeed.models import Environment
Environment.objects.create(name=sys.argv[1])
"""
SHOW = """
import django
django.setup()
from codespeed.models import Result
for result in Result.objects.all():
    revision = result.revision
    print(revision.commitid[:8], result.executable.name, result.benchmark.name, result.value, "s")
"""


def main(machine: str) -> int:
    """Install, serve, submit, and print what arrived; return the status of the submission."""
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as name:
        folder = Path(name)
        python = folder / "venv/bin/python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        subprocess.run([*pip, *NEEDS, *BUILD[:2]], check=True)
        subprocess.run([*pip, "--no-build-isolation", *BUILD[2:]], check=True)
        old = ["--no-build-isolation", "--no-use-pep517", "--no-deps"]
        subprocess.run([*pip, *old, "codespeed==0.13.0"], check=True)
        (folder / "settings_of_site.py").write_text(SETTINGS)
        (folder / "urls_of_site.py").write_text(URLS)
        environment = {"DJANGO_SETTINGS_MODULE": "settings_of_site", "PYTHONPATH": name}

        def django(*arguments: str) -> None:
            subprocess.run([str(python), *arguments], cwd=folder, env=environment, check=True)

        django("-m", "django", "migrate", "--verbosity=0")
        django("-c", ADD_MACHINE, machine, LOGIN)
        serve = [str(python), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{PORT}"]
        with subprocess.Popen(serve, cwd=folder, env=environment) as server:
            try:
                _wait_for_server()
                submit = ["submit", "--codespeed", ADDRESS, "--machine", machine]
                done = subprocess.run(
                    [sys.executable, "-m", "asv_watch.cli", *submit],
                    env=os.environ | {"ASV_WATCH_CODESPEED_LOGIN": LOGIN},
                    check=False,
                )
            finally:
                server.terminate()
        django("-c", SHOW)
    return done.returncode


def _wait_for_server() -> None:
    """Wait until the server answers, a minute at most."""
    for _ in range(60):
        try:
            socket.create_connection(("127.0.0.1", PORT), timeout=5).close()
        except OSError:
            time.sleep(1)
        else:
            return


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/try_codespeed.py MACHINE")
    sys.exit(main(sys.argv[1]))
