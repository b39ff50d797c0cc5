"""The README begins with the commands of a fresh machine, and what it says of them holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from asv.config import Config

from asv_watch.asv.settings import read_configuration
from tests.conftest import run
from tests.docs.pages import ROOT, Page


def test_the_first_block_names_the_two_commands_of_a_fresh_machine_and_their_cost() -> None:
    block = Page(ROOT / "README.md").blocks("sh")[0]
    for command in ("make bench", "make test"):
        assert re.search(rf"^{command} +# .*\d+ minutes\b.*, \d+ GB$", block, re.MULTILINE)


def test_pages_say_how_much_disk_an_environment_is_checked_for() -> None:
    size = round(read_configuration(ROOT).declared.environment_gib)
    statements = {
        "README.md": [rf"make bench .* {size} GB", rf"two releases, {2 * size} GB"],
        "docs/start.md": [rf"once, {size} GB in all"],
        "packages/asv-watch/docs/compare.md": [rf"{size} GB with torch"],
        "packages/asv-watch/docs/releases.md": [rf"{size} GB each with torch"],
    }
    for name, patterns in statements.items():
        for pattern in patterns:
            assert re.search(pattern, Page(ROOT / name).text), f"{name}: {pattern}"


def test_the_readme_adds_the_plugin_to_the_configuration_that_asv_writes(tmp_path: Path) -> None:
    asv = [sys.executable, "-m", "asv", "quickstart", "--dest", ".", "--top-level"]
    run(*asv, cwd=tmp_path)
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## Watch your own asv project")[2].partition("\n## ")[0]
    [line] = re.findall(r'^# Write ("plugins": .*,) after the first \{ of', section, re.MULTILINE)
    configuration = tmp_path / "asv.conf.json"
    configuration.write_text(
        configuration.read_text("utf-8").replace("{", f"{{\n{line}", 1), "utf-8"
    )
    assert Config.load(str(configuration)).plugins == [".asv_watch"]
