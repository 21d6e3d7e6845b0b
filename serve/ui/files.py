"""The files of the page."""

from importlib.resources import files


def text_of(name: str, folder: str = "seq2see.serve.ui") -> str:
    """The text of a JavaScript or CSS file of the page."""
    return files(folder).joinpath(name).read_text(encoding="utf-8")
