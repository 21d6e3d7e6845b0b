"""LOG.md links every file of docs/log, and every relative link in these files leads somewhere."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXPERIMENTS = sorted((ROOT / "docs/log").glob("*.md"))


def linked(page: Path) -> set[Path]:
    text = re.sub(r"`[^`]*`", "", page.read_text("utf-8"))
    return {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link}


def test_the_log_links_every_experiment_and_every_link_resolves() -> None:
    assert set(EXPERIMENTS) <= linked(ROOT / "LOG.md")
    assert not [link for page in [ROOT / "LOG.md", *EXPERIMENTS] for link in linked(page) if not link.exists()]
