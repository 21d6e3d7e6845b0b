"""For tests of folders that somebody spoilt: a copy, another value in a file, and the one line it is refused in."""

import json

import pytest

from seq2see.errors import UserError
from seq2see.vetting import vet


def copied(whole, folder):
    folder.mkdir()
    for path in whole.iterdir():
        (folder / path.name).hardlink_to(path)
    return folder


def edit(path, **values):
    changed = {**json.loads(path.read_text()), **values} if path.exists() else values
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(changed))


def refused(folder):
    with pytest.raises(UserError) as raised:
        vet(folder)
    line = str(raised.value)
    assert str(folder) in line and "\n" not in line and len(line) < 500
    return line
