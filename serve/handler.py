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

NOT_FOR_GENERATE = ("src_lang", "tgt_lang", "clean_up_tokenization_spaces", "truncation", "generate_parameters")
MOST_TEXTS = 64
MOST_BEAMS = 16


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
        parameters = data.get("parameters") or {}
        if not isinstance(parameters, dict):
            raise ValueError("parameters: expected an object")
        settings = {name: value for name, value in parameters.items() if name not in NOT_FOR_GENERATE}
        settings |= parameters.get("generate_parameters") or {}
        for name in ("num_beams", "num_return_sequences"):
            if not 1 <= settings.get(name, 1) <= MOST_BEAMS:
                raise ValueError(f"{name} {settings[name]}: expected 1 to {MOST_BEAMS}")
        target = parameters.get("tgt_lang")
        if target is not None:
            settings["forced_bos_token_id"] = self._tag(target)
        outputs = [self._translate(text, settings) for text in texts]
        if isinstance(inputs, str):
            return outputs[0]
        return outputs if settings.get("num_return_sequences", 1) > 1 else [one[0] for one in outputs]

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

    def _tag(self, target: str) -> int:
        """The piece that a translation into the language begins with: `<2fr>` of Seq2See, or the code itself (NLLB)."""
        known = self.tokenizer.get_vocab()
        for piece in (f"<2{target}>", target):
            if piece in known:
                return int(known[piece])
        raise ValueError("tgt_lang: the model has no such language")
