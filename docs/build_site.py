"""Builds the site into build/site, and checks it: `make site`.

    python docs/build_site.py         it needs the packages of the extra `docs`

The sources are docs/*.md and the top-level documents (CHANGELOG.md and others), which stay where GitHub and PyPI look
for them.  mkdocs.yml says how a copy of them in build/site-source becomes HTML.  In the copy a link to a file of the
checkout that is no page is the file's name: the site is complete without the checkout.

The front page shows the live explorer, which `seq2see export storybook --format web` writes beside it; the lessons are
a part of it.  In the end each link and anchor must lead somewhere, and no page may load anything from elsewhere.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from generate import generated

ROOT = Path(__file__).resolve().parent.parent
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
PAGES = {  # top-level documents, by the pages they become
    "CHANGELOG.md": "changelog.md", "CODE_OF_CONDUCT.md": "code-of-conduct.md", "CONTRIBUTING.md": "contributing.md",
    "LOG.md": "log.md", "SECURITY.md": "security.md",
}
LESSON = re.compile(r"lessons/(\d\d)-[\w-]+\.md")  # their text, which GitHub shows; the site has them in the explorer
MADE = ("lessons.html", "explorer.html")  # with anchors of their own
# An address of the lessons that was given away.
LESSONS = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Seq2See: the lessons</title>
<script>location.replace(`explorer.html${location.hash || "#lessons"}`)</script>
<p><a href="explorer.html#lessons">The lessons</a> are in the explorer.</p></html>
"""
UNPUBLISHED = ("*.py", "space", "__pycache__", "*.md")  # what of docs/ is not copied as it is
WIDE = "---\nhide: [navigation, toc]\n---\n"
# Instead of the moving picture of the front page, which GitHub shows.
PICTURE = re.compile(r"^!\[[^\]]*\]\(seq2see\.webp\)$", re.MULTILINE)
EXPLORER = """<style>.md-grid { max-width: 1440px }</style>
<iframe src="explorer.html" title="The explorer: type a sentence" style="width: 100%; height: 900px; border: 0"
allow="clipboard-write"></iframe>

[Open the explorer by itself](explorer.html): the model `storybook` in your browser; nothing you type leaves it.
"""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def main() -> None:
    for folder in (SOURCE, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE, ignore=shutil.ignore_patterns(*UNPUBLISHED))
    documents = {f"docs/{path.relative_to(ROOT / 'docs')}" for folder in ("docs", "docs/log")
                 for path in (ROOT / folder).glob("*.md")}
    for document in sorted(documents | set(PAGES)):
        page = PAGES.get(document) or document.removeprefix("docs/")
        text = generated((ROOT / document).read_text("utf-8"))
        (SOURCE / page).write_text(relinked(with_room(text), document, page), "utf-8")
    (SOURCE / "lessons.html").write_text(LESSONS, "utf-8")
    front = SOURCE / "index.md"
    front.write_text(WIDE + PICTURE.sub(EXPLORER, front.read_text("utf-8"), count=1), "utf-8")
    export = [sys.executable, "-m", "seq2see", "export", "storybook", "--format", "web", "--out"]
    subprocess.run([*export, str(SOURCE / "explorer.html")], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=ROOT,
                           env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    (SITE / "404.html").unlink(missing_ok=True)  # of use to a server at its root alone
    faults = list(broken(SITE)) if built.returncode == 0 else []
    sys.exit("\n".join(faults) or built.returncode)


def with_room(markdown: str) -> str:
    """A blank line before each list that follows text or code: Markdown in Python needs it, GitHub does not."""
    parts = re.split(r"(^```.*?^```$|^~~~.*?^~~~$)", markdown, flags=re.MULTILINE | re.DOTALL)
    follows = r"(\A|^(?!- |\d+\. |[\s#]).+)\n(?=- |1\. )"
    return "".join(part if part.startswith(("```", "~~~")) else re.sub(follows, r"\1\n\n", part, flags=re.MULTILINE)
                   for part in parts)


def relinked(markdown: str, document: str, page: str) -> str:
    """The links of a document of the checkout, as its page has them; those in code stay."""

    def link(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or urlsplit(target).scheme:
            return match[0]
        found = posixpath.normpath(posixpath.join(posixpath.dirname(document), path))
        if found == "README.md":
            found = "docs/index.md"
        if lesson := LESSON.fullmatch(found):
            found, anchor = "docs/explorer.html", f"lesson-{int(lesson[1])}"
        elif found == "lessons":
            found, anchor = "docs/explorer.html", "lessons"
        to = PAGES.get(found) or found.removeprefix("docs/")
        if found not in PAGES and not found.startswith("docs/") and (ROOT / found).exists():
            return text if path in text else f"{text} (`{found}`)"
        relative = posixpath.relpath(to, posixpath.dirname(page) or ".")
        return f"{mark}[{text}]({relative}{'#' + anchor if anchor else ''})"

    parts = re.split(r"(^```.*?^```|^~~~.*?^~~~$|`[^`\n]*`)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith(("`", "~~~")) else LINK.sub(link, part) for part in parts)


# --- what is checked


class Read(HTMLParser):
    """The links of a page, its anchors, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.loads.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])


def broken(site: Path) -> Iterator[str]:
    """A line for each link, anchor or file of a page that is not there, and for each that comes from another site."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = Read()
        pages[path].feed(path.read_text("utf-8"))
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                if target in page.loads:
                    yield f"{name} loads {target}"
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if found.is_dir():
                found /= "index.html"
            anchors = pages[found].anchors if found in pages and found.name not in MADE else None
            if not found.is_file():
                yield f"{name} links {target}, which is not there"
            elif parts.fragment and anchors is not None and unquote(parts.fragment) not in anchors:
                yield f"{name} links {target}, which has no such anchor"


if __name__ == "__main__":
    main()
