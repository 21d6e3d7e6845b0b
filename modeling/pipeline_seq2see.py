"""`pipeline("translation", model=FOLDER, trust_remote_code=True)`, a task that transformers 5 no longer provides.

    translate = pipeline("translation", model=FOLDER, trust_remote_code=True)
    translate(["The cat sleeps.", "The owl sings."], tgt_lang="fr", num_beams=4, batch_size=8)
    [{"translation_text": "Le chat dort."}, {"translation_text": "Le hibou chante."}]
"""

from typing import Any

import torch
from transformers import Pipeline

from .configuration_seq2see import LANGUAGE_TAGS

# B texts of a batch, N hypotheses of each, T target length


class Seq2SeeTranslationPipeline(Pipeline):
    """A translation pipeline: takes a text, a list of texts or a dataset, and options of `generate`.

    Args:
        tgt_lang: the target language; by default the model's default.
    """

    _load_tokenizer = True
    _load_processor = _load_feature_extractor = _load_image_processor = _load_video_processor = False

    def __call__(self, inputs: Any, **options: Any) -> Any:
        """As in transformers 4: `[{"translation_text": ...}]` for a text, and a dictionary for each text of a list.

        With `num_return_sequences`, a list has a list of dictionaries for each text.
        """
        outputs = super().__call__(inputs, **options)
        if isinstance(inputs, list) and all(len(output) == 1 for output in outputs):
            return [output[0] for output in outputs]
        return outputs

    def _sanitize_parameters(self, tgt_lang: str | None = None, **options: Any) -> tuple[dict, dict, dict]:
        if tgt_lang is not None:
            options["forced_bos_token_id"] = self._tag_id(tgt_lang)
        return {}, options, {}

    def _tag_id(self, language: str) -> int:
        tags = dict(zip(self.tokenizer.convert_ids_to_tokens([*LANGUAGE_TAGS]), LANGUAGE_TAGS, strict=True))
        if f"<2{language}>" not in tags:
            known = ", ".join(tag[2:-1] for tag in tags if tag.startswith("<2"))
            raise ValueError(f"tgt_lang: expected one of {known or 'none'}, got {language!r}")
        return tags[f"<2{language}>"]

    def preprocess(self, input_: str) -> dict[str, Any]:
        return self.tokenizer(input_, split_special_tokens=True, return_tensors="pt")

    def _forward(self, input_tensors: dict[str, torch.Tensor], **options: Any) -> dict[str, torch.Tensor]:
        ids_BT = self.model.generate(**input_tensors, **options)
        return {"ids_BNT": ids_BT.unflatten(0, (len(input_tensors["input_ids"]), -1))}

    def postprocess(self, model_outputs: dict[str, torch.Tensor]) -> list[dict[str, str]]:
        texts = self.tokenizer.batch_decode(model_outputs["ids_BNT"][0], skip_special_tokens=True)
        return [{"translation_text": text} for text in texts]
