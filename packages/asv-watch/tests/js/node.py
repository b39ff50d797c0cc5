"""Runs functions of the page's script in Node.js, where no browser is needed."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from asv_watch.site.build import STATIC
from tests.conftest import run

_FOLDERS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
NODE = shutil.which("node", path=_FOLDERS) or "node"
"""Node.js, which `make test` brings from the package index."""


def evaluate(module: str, expression: str, argument: object = None) -> Any:
    """Return the JSON value of an expression over a module's exports.

    Args:
        module: Path below ``static/script``, such as ``data/judge.js``.
        expression: JavaScript that may use ``module`` (the exports) and ``argument``.
        argument: A JSON value.
    """
    script = (
        f"const module = await import({json.dumps((STATIC / 'script' / module).as_uri())});\n"
        "const chunks = [];\n"
        "for await (const chunk of process.stdin) chunks.push(chunk);\n"
        "const argument = JSON.parse(Buffer.concat(chunks).toString());\n"
        f"process.stdout.write(JSON.stringify({expression}));\n"
    )
    command = NODE, "--input-type=module", "--eval", script
    return json.loads(run(*command, input=json.dumps(argument)).stdout)
