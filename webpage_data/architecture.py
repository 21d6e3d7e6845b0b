"""What sets the networks apart that a browser can run: one description, which `webpage/model/network.js` reads.

    d_model            width of the residual stream
    encoder, decoder   {"layers": 6, "heads": 8}
    norm_first         whether a norm comes before each sub-layer (Seq2See, M2M-100, mBART), or after the sum (Marian,
                       BART)
    activation         relu, silu, gelu or gelu_new, of the feed-forward layers
    embedding_scale    what embeddings are multiplied by
    positions          {"interleaved": false, "intervals": 256, "first": 0, "most": 512}: the row of the first position,
                       and how many positions there are; of sinusoids, their order and the divisor of their exponents
    start_token_id, end_token_ids     what the decoder reads first, and what ends a translation

Other differences show in the weights: a norm after the embedding, a last norm, learned positions, a bias of the logits,
separate embeddings.
"""

from typing import Any

from transformers import PreTrainedModel

from seq2see.errors import UserError

NORM_FIRST = {"seq2see": True, "m2m_100": True, "mbart": True, "marian": False, "bart": False}
FIRST_POSITION = {"seq2see": 0, "marian": 0, "m2m_100": 2, "mbart": 2, "bart": 2}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "silu", "swish": "silu", "gelu_new": "gelu_new"}
# What the search in the browser would leave out of a generation_config.json.
LEFT_OUT = ("suppress_tokens", "begin_suppress_tokens", "min_length", "min_new_tokens", "encoder_no_repeat_ngram_size")


def architecture(model: PreTrainedModel) -> dict[str, Any]:
    """The description of a model's network.

    Raises UserError for a model of another type, with another activation, or with search settings that the browser does
    not support.
    """
    config, generation = model.config, model.generation_config
    kind, served = config.model_type, "use seq2see serve, which runs every encoder-decoder"
    if kind not in NORM_FIRST:
        *others, last = ("Seq2See", "Marian", "M2M-100, NLLB", "mBART", "BART")
        raise UserError(f"a browser runs {', '.join(others)} and {last} models, not {kind}: {served}")
    if config.activation_function not in ACTIVATIONS:
        raise UserError(f"a browser supports the activations {', '.join(ACTIVATIONS)}, not"
                        f" {config.activation_function}: {served}")
    settings = generation.to_dict()
    found = [name for name in LEFT_OUT if settings.get(name)]
    found += ["bad_words_ids"] * any(len(ids) != 1 for ids in settings.get("bad_words_ids") or ())
    if found:
        raise UserError(f"generation_config.json sets {', '.join(found)}, which the search in a browser does not"
                        f" support: remove it there, or {served}")
    start = generation.decoder_start_token_id
    start = config.decoder_start_token_id if start is None else start
    if start is None:
        raise UserError("the model does not say which token its decoder starts from: set decoder_start_token_id in"
                        " generation_config.json")
    ends = generation.eos_token_id if generation.eos_token_id is not None else config.eos_token_id
    half = config.d_model // 2
    return {
        "d_model": config.d_model,
        **{stack: {"layers": getattr(config, f"{stack}_layers"), "heads": getattr(config, f"{stack}_attention_heads")}
           for stack in ("encoder", "decoder")},
        "norm_first": NORM_FIRST[kind],
        "activation": ACTIVATIONS[config.activation_function],
        "embedding_scale": config.d_model**0.5 if config.scale_embedding else 1,
        "positions": {"interleaved": kind == "seq2see", "intervals": half - (kind == "m2m_100"),
                      "first": FIRST_POSITION[kind], "most": config.max_position_embeddings},
        "start_token_id": start,
        "end_token_ids": [ends] if isinstance(ends, int) else list(ends),
    }
