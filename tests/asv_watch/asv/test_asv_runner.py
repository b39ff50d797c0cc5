"""One release of asv_runner takes all samples, and environments keep to it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import asv.environment

from asv_watch.asv.environments import creating, pinned_asv_runner
from asv_watch.asv.settings import load_settings
from tests.asv_watch import torchless


def test_one_release_is_pinned_everywhere(root: Path) -> None:
    project = tomllib.loads((root / "src/asv_watch/pyproject.toml").read_text())["project"]
    pins = [pin for pin in project["dependencies"] if pin.startswith("asv_runner")]
    assert pins == [f"asv_runner=={pinned_asv_runner()}"]


def test_an_environment_gets_the_pinned_release_instead_of_another(tmp_path: Path) -> None:
    (tmp_path / "asv.conf.json").write_text(json.dumps(torchless.CONFIGURATION))
    conf = load_settings(tmp_path)
    [environment] = asv.environment.get_environments(conf, None, verbose=False)
    packages = Path(environment._path, "lib/python3.11/site-packages")
    dist_info = packages / "asv_runner-0.3.1.dist-info"
    dist_info.mkdir(parents=True)
    installed: list[str] = []
    environment._run_pip = installed.extend
    asked: dict[str, str] = {}
    creating(lambda env: asked.update(env._base_requirements))(environment)
    assert asked["pip+asv_runner"] == pinned_asv_runner()
    assert installed == ["install", f"asv_runner=={pinned_asv_runner()}"]
    installed.clear()
    dist_info.rename(packages / f"asv_runner-{pinned_asv_runner()}.dist-info")
    creating(lambda env: None)(environment)
    assert installed == [], "it is not installed twice"
