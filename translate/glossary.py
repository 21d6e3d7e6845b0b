"""Glossaries in files: one term in each line, `source TAB target`."""

from pathlib import Path

from seq2see.errors import UserError
from ..tokenizer.terms import Glossary, add

__all__ = ["Glossary", "read_glossary"]


def read_glossary(path: str | Path) -> Glossary:
    """Read a glossary from a UTF-8 file; blank lines and lines that begin with `#` are skipped.

    Raises:
        UserError: a row that is not a pair of terms, or that contradicts another row; the message names the file and
            the row.
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
