"""axe-core, a checker of accessibility, from npm (package.json)."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.visitor import Visitor

_FILE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def axe_source() -> str:
    """Return the text of axe-core."""
    if not _FILE.exists():
        pytest.fail(f"there is no {_FILE}: run `make test`, which installs it", pytrace=False)
    return _FILE.read_text(encoding="utf-8")


EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(visitor: Visitor, rules: list[str] = EVERYTHING) -> list[str]:
    """What axe has against the view that is shown, in its surroundings."""
    result: dict[str, Any] = visitor.page.evaluate(
        """rules => axe.run(document, {
          runOnly: rules, resultTypes: ['violations'], performanceTimer: false,
        })""",
        rules,
    )
    return [
        f"{violation['id']}: {violation['help']} {node['html'][:160]} {node['target']}"
        for violation in result["violations"]
        for node in violation["nodes"][:2]
    ]
