"""An evaluation as people read it.  Imports nothing heavy: the demo prints what an earlier training found."""

import sys
from collections.abc import Mapping
from typing import Any


def print_scores(name: str, row: Mapping[str, Any]) -> None:
    print(f"{name}: {row['pairs']} pairs, exact match {row['exact_match']} %")
    print(f"  BLEU {row['bleu']}  {row['bleu_signature']}")
    print(f"  chrF2 {row['chrf']}  {row['chrf_signature']}")
    if "bleu_lc_tok" in row:
        print(f"  lower-cased tokenised BLEU {row['bleu_lc_tok']}  {row['bleu_lc_tok_signature']}")
    for family, figures in row.get("families", {}).items():
        pronoun = f"  right pronoun {figures['pronoun']:6.2f} %" if "pronoun" in figures else ""
        print(f"  {family:40} {figures['pairs']:6} pairs  exact {figures['exact_match']:6.2f} %{pronoun}")
    sys.stdout.flush()
