"""The page's script is joined from modules, and behaves as the modules would."""

from __future__ import annotations

import subprocess
from pathlib import Path

from asv_watch.site.build import STATIC
from asv_watch.site.bundle import bundle


def write(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text)
    return folder / "main.js"


def run(script: str) -> str:
    done = subprocess.run(
        ["node", "--input-type=commonjs"], input=script, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_modules_run_once_in_the_order_of_their_imports(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main='import { twice } from "./a.js";\nimport { log } from "./b.js";\nlog(twice(2));\n',
        a='import { log } from "./b.js";\nlog("a");\nexport const twice = (x) => 2 * x;\n',
        b='console.log("b");\nexport function log(x) {\n  console.log(x);\n}\n',
    )
    assert run(bundle(entry)).split() == ["b", "a", "4"]


def test_private_names_of_modules_do_not_meet(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main='import { a } from "./a.js";\nconst secret = 1;\nconsole.log(a() + secret);\n',
        a="const secret = 40;\nexport const a = () => secret;\n",
    )
    assert run(bundle(entry)) == "41"


def test_every_module_of_the_page_is_used(tmp_path: Path) -> None:
    joined = bundle(STATIC / "script" / "main.js")
    (tmp_path / "joined.js").write_text(joined)
    subprocess.run(["node", "--check", tmp_path / "joined.js"], check=True)
    for module in (STATIC / "script").rglob("*.js"):
        heading = module.read_text().split("\n", 1)[0]
        assert heading in joined, f"{module} is imported by nothing"
