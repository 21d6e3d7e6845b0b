"""A new measurement, with what an earlier one of the same weights has and the new one left out."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seq2see.errors import UserError
from ..lens.measurements import Measurements
from ..lens.records import roles
from ..lens.records.calibration import Calibration


def with_languages(new: Calibration, previous: Measurements) -> Calibration:
    """With the languages that were calibrated before and not now, and the chances of whole translations where there
    were now too few to fit."""
    try:
        old = previous.calibration
    except UserError:  # it is damaged
        old = None
    if old is None or old.weights != new.weights:
        return new
    languages = {language: replace(one, sentences=one.sentences or getattr(old.languages.get(language), "sentences",
                                                                           None))
                 for language, one in new.languages.items()}
    left = [language for language in old.languages if language not in languages]
    name = f"{new.measured_on} ({', '.join(left)}: {old.measured_on})" if left else new.measured_on
    return replace(new, measured_on=name, languages=languages | {one: old.languages[one] for one in left})


def with_roles(new: dict[str, Any], previous: Measurements) -> dict[str, Any]:
    """A report of `head_roles.py` as plain data, with the roles that were tested before and not now, and with what
    each head did for the pronoun."""
    try:
        old = json.loads(previous.files()[roles.FILE].read_text(encoding="utf-8"))
        if old["weights"] != new["weights"]:
            return new
        tested, rows = {one["role"] for one in new["roles"]}, {tuple(row["head"]): row for row in new["heads"]}

        def others(some: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [one for one in some if one["role"] not in tested]

        def joined(row: Mapping[str, Any]) -> dict[str, Any]:
            found = rows[tuple(row["head"])]
            return {**row, **found, "roles": [*found["roles"], *others(row["roles"])]}

        return {**old, **new, "heads": list(map(joined, old["heads"])),
                "roles": [*new["roles"], *others(old["roles"])]}
    except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is damaged
        return new
