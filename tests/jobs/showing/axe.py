"""The accessibility checker axe, run on a page in a real browser."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.jobs.browser import Browser

HOME = Path(__file__).parents[3] / "build" / "axe"
PACKAGE = "axe-core@4.11"


def found() -> str | None:
    """The script of axe, which npm brings once; ``None`` where that cannot be."""
    script = HOME / "node_modules" / "axe-core" / "axe.min.js"
    npm = shutil.which("npm")
    if not script.exists() and npm:
        asked = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(HOME), PACKAGE]
        subprocess.run(asked, capture_output=True, check=False, timeout=600)
    return script.read_text(encoding="utf-8") if script.exists() else None


AXE = found()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALSO = {"label-content-name-mismatch": {"enabled": True}}
"""Rules that axe calls experimental: who speaks to a machine says what he sees."""


def violations(browser: Browser) -> list[Any]:
    """What axe says against the page that is open: each rule with the elements that break it."""
    browser.value(f"{AXE}; true")
    run = (
        f"axe.run(document, {{runOnly: {RULES}, rules: {json.dumps(ALSO)}, resultTypes: ['violations']}}).then(result => result.violations.map("
        "one => [one.id, one.nodes.map(node => node.html + ' ' + node.failureSummary).slice(0, 3)]))"
    )
    return list(browser.value(run))
