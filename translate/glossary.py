"""Glossaries in files: a line for each term, `source TAB target`."""

from pathlib import Path

from seq2see.errors import UserError
from ..tokenizer.terms import Glossary, add

__all__ = ["Glossary", "read_glossary"]


def read_glossary(path: str | Path) -> Glossary:
    """The glossary in a UTF-8 file.  Blank lines and those that begin with `#` are skipped.

    UserError, which names the file and the row, for a row that is no pair of terms, or contradicts another.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read the glossary {path}: {error.strerror}", exit_code=2) from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8: save it as UTF-8", exit_code=2) from None
    terms: dict[str, str] = {}
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip() and not row.startswith("#"):
            where, columns = f"{path}, row {number}", row.rstrip("\r").split("\t")
            if len(columns) != 2:
                found = f"{len(columns)} columns" if len(columns) > 2 else "no TAB"
                raise UserError(f"{where}: {found}: expected source TAB target", exit_code=2)
            add(terms, *columns, where=where)
    return Glossary(tuple(terms.items()))
