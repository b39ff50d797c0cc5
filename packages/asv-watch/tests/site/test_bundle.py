"""The page's script is joined from all of its modules; the browser's tests show that it works."""

import subprocess
from pathlib import Path

from asv_watch.site.build import STATIC
from asv_watch.site.scripts import bundle
from tests.js.node import NODE


def test_every_module_of_the_page_is_used(tmp_path: Path) -> None:
    joined = bundle(STATIC / "script" / "main.js")
    (tmp_path / "joined.js").write_text(joined)
    subprocess.run([NODE, "--check", tmp_path / "joined.js"], check=True)
    for module in (STATIC / "script").rglob("*.js"):
        heading = module.read_text().split("\n", 1)[0]
        assert heading in joined, f"{module} is imported by nothing"
