"""A Hugging Face Inference Endpoint for a translation model, as `seq2see export RUN --format endpoint` writes it.

It needs transformers and torch, and of the rest only what lies in its folder: the model's own code comes with it, the
package seq2see is not used.  So it is slower than `seq2see serve`, and cuts nothing long into sentences: a text longer
than the model takes is refused.  The wire format is that of the task `translation`:

    {"inputs": "The cat is tired.", "parameters": {"tgt_lang": "fr", "generate_parameters": {"num_beams": 4}}}
    [{"translation_text": "Le chat est fatigué."}]
"""

from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

ALSO = ("src_lang", "tgt_lang", "clean_up_tokenization_spaces", "truncation", "generate_parameters")  # of parameters
MOST_TEXTS = 64
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


class EndpointHandler:
    """`path` is the folder of the model, which this file lies in.  ValueError, of one line, for what is not served."""

    def __init__(self, path: str = ""):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=True)
        model = AutoModelForSeq2SeqLM.from_pretrained(path, trust_remote_code=True)
        self.model = model.to(self.device).eval()

    def __call__(self, data: dict[str, Any]) -> list[Any]:
        """One object for a text; for a list of texts an entry each, in order."""
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
        target = parameters.get("tgt_lang")
        if target is not None:
            settings["forced_bos_token_id"] = self._tag(target)
        outputs = [self._translate(text, settings) for text in texts]
        if isinstance(inputs, str):
            return outputs[0]
        return outputs if count > 1 else [one[0] for one in outputs]

    def _translate(self, text: str, settings: dict[str, Any]) -> list[dict[str, str]]:
        if not text.strip():
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
        """The piece that a translation into the language begins with: `<2fr>` of Seq2See, or the code itself (NLLB)."""
        known = self.tokenizer.get_vocab()
        for piece in (f"<2{target}>", str(target)):
            if piece in known:
                return int(known[piece])
        raise ValueError("tgt_lang: the model has no such language")


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
