"""The page's own files."""

from importlib.resources import files


def text_of(name: str) -> str:
    """The text of a file of the page."""
    return files("seq2see.serve.ui").joinpath(name).read_text(encoding="utf-8")
