"""Faults of decoding, scoring, the engines, and texts of several sentences."""

from dataclasses import replace
from typing import Any

from . import fault

DECODING = "translate/test_decoding.py"


@fault("only the first id of a prefix is forced", "translate.torch_engine:ForcePrefix.__call__", DECODING)
def _(original: Any, self: Any, ids: Any, scores: Any) -> Any:
    return original(self, ids, scores) if ids.shape[1] == 1 else scores


@fault("rows sample from one generator", "translate.torch_engine:GumbelSampler.__init__", DECODING)
def _(original: Any, self: Any, rows: Any, options: Any) -> None:
    original(self, rows, options)
    self.generators = self.generators[:1] * len(rows)


@fault("a score counts the language tag", "translate.scoring:score_targets", "translate/test_scoring.py")
def _(original: Any, *given_first: Any, given: int, **how: Any) -> Any:
    return original(*given_first, given=0, **how)


@fault("CTranslate2 ignores the length penalty", "translate.ctranslate2_engine:CTranslate2Engine.translate",
       "translate/test_ctranslate2.py")  # fmt: skip
def _(original: Any, self: Any, sources: Any, options: Any, **how: Any) -> Any:
    return original(self, sources, replace(options, length_penalty=1.0), **how)


@fault("a sentence longer than any in training is not split", "translate.decoding:GenerationDefaults.source_tokens",
       "translate/test_long_texts.py")  # fmt: skip
def _(original: Any, self: Any) -> Any:
    return self.positions


@fault("a sentence that refers back stands alone", "translate.decoding:GenerationDefaults.source_sentences",
       "translate/test_long_texts.py")  # fmt: skip
def _(original: Any, self: Any) -> int:
    return 1


@fault("a prefix replaces the language tag", "translate.decoding:DecodingOptions.with_prefix",
       f"translate/test_long_texts.py {DECODING}")  # fmt: skip
def _(original: Any, self: Any, ids: Any) -> Any:
    return replace(self, prefix=tuple(ids)) if ids else self


@fault("trust of other weights is shown", "translate.checkpoint:LoadedCheckpoint.trust", "cli/test_look.py")
def _(original: Any, self: Any) -> Any:
    from seq2see.lens.trust import FILE, Trust

    return Trust.load(self.folder / FILE) if (self.folder / FILE).is_file() else None
