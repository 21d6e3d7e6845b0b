"""`training.freeze`: parts of a model that stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedModel

from seq2see.errors import UserError


def freeze(model: PreTrainedModel, parts: Sequence[str]) -> None:
    """Train none of the weights of the `encoder`, the `decoder` or the `embeddings`.

    Embeddings are those of source, target and output; one that the other parts share is frozen only by its own name.
    """
    embeddings = {id(model.get_input_embeddings().weight)}
    for side in (model.get_encoder(), model.get_decoder(), model):
        for table in (side.get_input_embeddings(), side.get_output_embeddings()):
            if table is not None:
                embeddings.add(id(table.weight))
    for name, own in (("encoder", model.get_encoder()), ("decoder", model.get_decoder()), ("embeddings", model)):
        for weight in own.parameters() if name in parts else ():
            if (id(weight) in embeddings) == (name == "embeddings"):
                weight.requires_grad_(False)
    if not any(weight.requires_grad for weight in model.parameters()):
        raise UserError(f"training.freeze: {', '.join(parts)} leaves nothing to train; remove one part", exit_code=2)
