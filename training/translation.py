"""Translating many texts with `model.generate`: what validation and `seq2see evaluate` use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.training.batching import pad
from seq2see.training.pairs import Pair


@torch.no_grad()
def translate_pairs(
    model: PreTrainedModel,
    tokenizer: Seq2SeeTokenizer,
    pairs: Sequence[Pair],
    *,
    batch_tokens: int = 4096,
    num_beams: int | None = None,
    **generation: Any,
) -> list[str]:
    """The source side of each pair in its target language, in the order given.

    Sources of like length and the same target language share a batch of at most `batch_tokens` pieces over all beams.
    Other keywords go to `generate`; what is not given comes from the model's generation_config.

    Raises UserError for a source of more pieces than the model has positions.
    """
    sources = [tokenizer.encode_source(pair.source) for pair in pairs]
    for source, pair in zip(sources, pairs, strict=True):
        if len(source) > model.config.max_position_embeddings:
            raise UserError(
                f"a source of {len(source)} pieces, more than the model's {model.config.max_position_embeddings}"
                f" positions, starts {pair.source[:40]!r}; leave it out, or cut it into sentences"
            )
    beams = num_beams or model.generation_config.num_beams or 1
    order = sorted(range(len(pairs)), key=lambda index: (pairs[index].target_language, len(sources[index])))
    texts = [""] * len(pairs)
    while order:
        language, longest = pairs[order[-1]].target_language, len(sources[order[-1]])
        batch = [index for index in order[-max(1, batch_tokens // (beams * longest)) :]
                 if pairs[index].target_language == language]
        del order[-len(batch) :]
        input_ids_BS = pad([sources[index] for index in batch], model.config.pad_token_id).to(model.device)
        lengths_B = torch.tensor([len(sources[index]) for index in batch], device=model.device)
        output_BT = model.generate(
            input_ids=input_ids_BS,
            attention_mask=(torch.arange(input_ids_BS.shape[1], device=model.device) < lengths_B[:, None]).long(),
            forced_bos_token_id=tokenizer.tag_id(language),
            num_beams=beams,
            **generation,
        )
        for index, ids in zip(batch, output_BT.tolist(), strict=True):
            texts[index] = tokenizer.decode_text(ids)
    return texts
