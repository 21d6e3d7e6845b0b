"""A Hugging Face Inference Endpoint for a translation model, written by `seq2see export RUN --format endpoint`.

It needs transformers, torch, and in its folder the model's own code and `decoding.py`, but not the package seq2see.
It is slower than `seq2see serve` and does not split text into sentences: a text longer than the model's maximum is an
error.  The wire format is that of the task `translation`:

    {"inputs": "The cat is tired.", "parameters": {"tgt_lang": "fr", "generate_parameters": {"num_beams": 4}}}
    [{"translation_text": "Le chat est fatigué."}]
"""

import re
from collections.abc import Collection
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from .decoding import OPTIONS, check

OTHERS = ("src_lang", "tgt_lang", "clean_up_tokenization_spaces", "truncation", "generate_parameters")
# The settings of `generate` that a request may use, and the option with their bounds.  Other settings load code or take
# unlimited memory.
SETTINGS = {
    **{name: name for name in OPTIONS if name not in ("alternatives", "seed")},
    "num_return_sequences": "alternatives", "max_length": "max_new_tokens",
}  # fmt: skip
CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)?")  # of a language in NLLB and mBART: fra_Latn, fr_XX


class EndpointHandler:
    """`path` is the folder of the model and of this file.  ValueError (one line) for an invalid request."""

    def __init__(self, path: str = ""):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=True)
        model = AutoModelForSeq2SeqLM.from_pretrained(path, trust_remote_code=True)
        self.model = model.to(self.device).eval()
        pairs = getattr(model.config, "language_pairs", None) or []
        self.sources = {source for source, _ in pairs}
        # Target languages, each with the first token of its translations: `<2fr>` in Seq2See or, for a model that names
        # no languages, the code itself, if it is a special token.
        codes = filter(CODE.fullmatch, self.tokenizer.all_special_tokens)
        tags = {target: f"<2{target}>" for _, target in pairs} or {code: code for code in codes}
        self.tags = {language: self.tokenizer.convert_tokens_to_ids(tag) for language, tag in tags.items()}

    def __call__(self, data: dict[str, Any]) -> list[Any]:
        """One object for a text; for a list of texts, one entry each, in order."""
        inputs, parameters = data["inputs"], data.get("parameters") or {}
        texts = [inputs] if isinstance(inputs, str) else inputs
        parameters = {**parameters, **(parameters.get("generate_parameters") or {})}
        settings = {name: value for name, value in parameters.items() if name not in OTHERS and value is not None}
        for name, value in settings.items():
            _check(name, value)
        count = settings.get("num_return_sequences", 1)
        if count > 1 and not settings.get("do_sample"):
            usual = self.model.generation_config.num_beams or 1
            settings["num_beams"] = max(count, settings.get("num_beams", usual))
        if self.sources:
            _check_language("src_lang", parameters, self.sources)
        _check_language("tgt_lang", parameters, self.tags)
        if parameters.get("tgt_lang") is not None:
            settings["forced_bos_token_id"] = self.tags[parameters["tgt_lang"]]
        outputs = [self._translate(text, settings) for text in texts]
        if isinstance(inputs, str):
            return outputs[0]
        return outputs if count > 1 else [one[0] for one in outputs]

    def _translate(self, text: str, settings: dict[str, Any]) -> list[dict[str, str]]:
        if not any(map(str.isalpha, text)):  # nothing to translate: the model would hallucinate
            return [{"translation_text": text}] * settings.get("num_return_sequences", 1)
        tokens = self.tokenizer(text, return_tensors="pt", split_special_tokens=True).to(self.device)
        length, longest = tokens["input_ids"].shape[1], getattr(self.model.config, "max_position_embeddings", None)
        if longest is not None and length > longest:
            raise ValueError(f"a text has {length} tokens: the model takes at most {longest}")
        with torch.inference_mode():
            ids = self.model.generate(tokens["input_ids"], attention_mask=tokens["attention_mask"], **settings)
        return [{"translation_text": one} for one in self.tokenizer.batch_decode(ids, skip_special_tokens=True)]


def _check_language(name: str, parameters: dict[str, Any], known: Collection[str]) -> None:
    if parameters.get(name) is not None and parameters[name] not in known:
        shown = ", ".join(sorted(known)[:20]) + ", ..." * (len(known) > 20)
        raise ValueError(f"{name}: expected {shown or 'none, since the model names no languages'}")


def _check(name: str, value: Any) -> None:
    if name == "do_sample" and isinstance(value, bool):
        return
    if name not in SETTINGS:
        raise ValueError(f"{str(name)[:40]}: expected one of {', '.join(SETTINGS)} or do_sample (true or false)")
    try:
        check(SETTINGS[name], value)
    except ValueError as error:
        raise ValueError(str(error).replace(SETTINGS[name], name, 1)) from None
