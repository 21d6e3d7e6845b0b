"""A Hugging Face Inference Endpoint for a translation model, as `seq2see export RUN --format endpoint` writes it.

It needs transformers and torch, and of the rest only what lies in its folder: the model's own code comes with it, the
package seq2see is not used.  So it is slower than `seq2see serve`, and cuts nothing long into sentences: a text longer
than the model takes is refused.  The wire format is that of the task `translation`:

    {"inputs": "The cat is tired.", "parameters": {"tgt_lang": "fr", "generate_parameters": {"num_beams": 4}}}
    [{"translation_text": "Le chat est fatigué."}]
"""

import re
from collections.abc import Collection
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

ALSO = ("src_lang", "tgt_lang", "clean_up_tokenization_spaces", "truncation", "generate_parameters")  # of parameters
MOST_TEXTS = 64
MOST_CHARACTERS = 10_000
MOST_BEAMS = 16
# The settings of `generate` that a request may name, with the type, the least and the greatest value of each.  No
# others: some load code, or take any amount of memory.
SETTINGS: dict[str, tuple[type, float, float]] = {
    "num_beams": (int, 1, MOST_BEAMS),
    "num_return_sequences": (int, 1, MOST_BEAMS),
    "max_new_tokens": (int, 1, 512),
    "max_length": (int, 2, 513),
    "length_penalty": (float, -10, 10),
    "repetition_penalty": (float, 0.1, 10),
    "no_repeat_ngram_size": (int, 0, 100),
    "do_sample": (bool, False, True),
    "temperature": (float, 0.01, 100),
    "top_k": (int, 0, 2**20),
    "top_p": (float, 0.001, 1),
}
CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)?")  # of a language, as NLLB and mBART have it: fra_Latn, fr_XX


class EndpointHandler:
    """`path` is the folder of the model, which this file lies in.  ValueError, of one line, for what is not served."""

    def __init__(self, path: str = ""):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=True)
        model = AutoModelForSeq2SeqLM.from_pretrained(path, trust_remote_code=True)
        self.model = model.to(self.device).eval()
        pairs = getattr(model.config, "language_pairs", None) or []
        self.sources = {source for source, _ in pairs}
        # The languages it translates into, each with the token that such a translation begins with: `<2fr>` of Seq2See,
        # or, where the model names no languages, the code itself, if it is a special token.
        codes = filter(CODE.fullmatch, self.tokenizer.all_special_tokens)
        tags = {target: f"<2{target}>" for _, target in pairs} or {code: code for code in codes}
        self.tags = {language: self.tokenizer.convert_tokens_to_ids(tag) for language, tag in tags.items()}

    def __call__(self, data: dict[str, Any]) -> list[Any]:
        """One object for a text; for a list of texts an entry each, in order."""
        if not isinstance(data, dict):
            raise ValueError("expected an object with inputs")
        inputs = data.get("inputs")
        texts = [inputs] if isinstance(inputs, str) else inputs
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("inputs: expected a text, or a list of texts")
        if len(texts) > MOST_TEXTS:
            raise ValueError(f"{len(texts)} texts: {MOST_TEXTS} at most are taken")
        parameters = _object(data, "parameters")
        settings = {name: value for name, value in parameters.items() if name not in ALSO}
        settings |= _object(parameters, "generate_parameters")
        settings = {name: value for name, value in settings.items() if value is not None}
        for name, value in settings.items():
            _check(name, value)
        count = settings.get("num_return_sequences", 1)
        if count > 1 and not settings.get("do_sample"):
            usual = self.model.generation_config.num_beams or 1
            settings["num_beams"] = max(count, settings.get("num_beams", usual))
        source, target = parameters.get("src_lang"), parameters.get("tgt_lang")
        if source is not None and self.sources:
            _check_language("src_lang", source, self.sources)
        if target is not None:
            settings["forced_bos_token_id"] = self._tag(target)
        outputs = [self._translate(text, settings) for text in texts]
        if isinstance(inputs, str):
            return outputs[0]
        return outputs if count > 1 else [one[0] for one in outputs]

    def _translate(self, text: str, settings: dict[str, Any]) -> list[dict[str, str]]:
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"a text of {len(text)} characters: {MOST_CHARACTERS} at most are taken")
        if not any(map(str.isalpha, text)):  # nothing to translate: a model would invent something
            return [{"translation_text": text}] * settings.get("num_return_sequences", 1)
        pieces = self.tokenizer(text, return_tensors="pt", split_special_tokens=True)
        longest = getattr(self.model.config, "max_position_embeddings", None)
        if longest is not None and pieces["input_ids"].shape[1] > longest:
            raise ValueError(f"a text of {pieces['input_ids'].shape[1]} pieces: the model takes {longest}")
        ids = {name: pieces[name].to(self.device) for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            found = self.model.generate(**ids, **settings)
        return [{"translation_text": one} for one in self.tokenizer.batch_decode(found, skip_special_tokens=True)]

    def _tag(self, target: Any) -> int:
        _check_language("tgt_lang", target, self.tags)
        return self.tags[target]


def _check_language(name: str, language: Any, known: Collection[str]) -> None:
    if not isinstance(language, str) or language not in known:
        shown = ", ".join(sorted(known)[:20]) + ", ..." * (len(known) > 20)
        raise ValueError(f"{name}: expected {shown or 'none, since the model names no languages'}")


def _object(holder: dict[str, Any], name: str) -> dict[str, Any]:
    found = holder.get(name)
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"{name}: expected an object")
    return dict(found or {})


def _check(name: str, value: Any) -> None:
    if name not in SETTINGS:
        raise ValueError(f"{str(name)[:40]}: there is no such setting; there is {', '.join(SETTINGS)}")
    kind, least, most = SETTINGS[name]
    fits = type(value) in ((int, float) if kind is float else (kind,))
    if not (fits and least <= value <= most):
        raise ValueError(f"{name} {str(value)[:40]}: expected {least} to {most} ({kind.__name__})")
