"""The configuration of a Seq2See network.

Names are those of BART and Marian, so that tools made for them work.  A downloaded config is untrusted data, so every
value is bounded and checked against the others before any tensor is allocated. transformers' `@strict` checks types and
calls each `validate_...`; transformers itself checks no bounds.
"""

from typing import Any, Literal

from huggingface_hub.dataclasses import strict
from transformers import PreTrainedConfig

# The largest value allowed for each size: far above any use of this model, far below what exhausts a machine.
LIMITS = {
    "vocab_size": 2**20,
    "d_model": 8_192,
    "encoder_layers": 256,
    "decoder_layers": 256,
    "encoder_attention_heads": 256,
    "decoder_attention_heads": 256,
    "encoder_ffn_dim": 65_536,
    "decoder_ffn_dim": 65_536,
    "max_position_embeddings": 65_536,
}
TABLE = 2**24  # numbers in the sinusoid table: 64 MiB
LANGUAGE_TAGS = range(4, 36)  # ids that a target begins with if language_pairs are known
Activation = Literal["relu", "gelu", "gelu_new", "silu"]  # of the feed-forward layer: CTranslate2 supports them too


@strict
class Seq2SeeConfig(PreTrainedConfig):
    """Shape and special tokens of a Seq2See encoder-decoder.

    Args:
        vocab_size: rows V of the embedding matrix.
        d_model: width D of every vector that flows through the network.
        encoder_layers, decoder_layers: depth of each side.
        encoder_attention_heads, decoder_attention_heads: heads H of each side; D must be a multiple of both.
        encoder_ffn_dim, decoder_ffn_dim: inner width F of the feed-forward layers.
        activation_function: one of "relu", "gelu", "gelu_new", "silu".
        dropout: dropout probability of the embeddings and of the output of every sub-layer.
        attention_dropout: dropout probability of the attention weights.
        activation_dropout: dropout probability inside the feed-forward layer.
        max_position_embeddings: rows of the sinusoid table, which is also the maximum number of tokens in a text.
        scale_embedding: multiply embeddings by sqrt(D), as Vaswani et al. 2017 (section 3.4) do.
        tie_word_embeddings: whether the output projection uses the embedding matrix that source and target share.
        language_pairs: the language pairs that the model was trained on, as `[["en", "fr"], ...]`; None if unknown.  If
            they are known, each row of labels must begin with a language tag.
        supervised_heads: cross-attention heads that were trained with gold word links, as `[[layer, head], ...]`, both
            counted from 0.
        blank_token_ids: the tokens that contain only white space, in a Seq2SeeTokenizer vocabulary; None if unknown.

    Raises:
        huggingface_hub.errors.StrictDataclassError: a value of the wrong type, out of bounds, or inconsistent with
        another; the message shows the expected and the given value.
    """

    model_type = "seq2see"
    keys_to_ignore_at_inference = ["past_key_values"]
    attribute_map = {
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    }

    vocab_size: int = 8_000
    d_model: int = 128
    encoder_layers: int = 4
    decoder_layers: int = 4
    encoder_attention_heads: int = 4
    decoder_attention_heads: int = 4
    encoder_ffn_dim: int = 256
    decoder_ffn_dim: int = 256
    activation_function: Activation = "relu"
    dropout: float | int = 0.1
    attention_dropout: float | int = 0.0
    activation_dropout: float | int = 0.0
    max_position_embeddings: int = 1_024
    scale_embedding: bool = True
    language_pairs: list | None = None
    supervised_heads: list | None = None
    blank_token_ids: list[int] | None = None

    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | list[int] | None = 2
    unk_token_id: int | None = 3
    decoder_start_token_id: int | None = 1

    is_encoder_decoder: bool = True
    tie_word_embeddings: bool = True
    use_cache: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The configuration as a dictionary, with the names of the classes that Auto classes and pipelines load from
        the code files beside config.json.
        """
        auto_map = {
            "AutoConfig": "configuration_seq2see.Seq2SeeConfig",
            "AutoModel": "modeling_seq2see.Seq2SeeModel",
            "AutoModelForSeq2SeqLM": "modeling_seq2see.Seq2SeeForConditionalGeneration",
            **(getattr(self, "auto_map", None) or {}),
        }
        translation = {"impl": "pipeline_seq2see.Seq2SeeTranslationPipeline", "pt": ["AutoModelForSeq2SeqLM"]}
        return super().to_dict() | {"auto_map": auto_map, "custom_pipelines": {"translation": translation}}

    def validate_bounds(self) -> None:
        """Every size lies in [1, LIMITS], every probability in [0, 1)."""
        for name, largest in LIMITS.items():
            value = getattr(self, name)
            if not 1 <= value <= largest:
                raise ValueError(f"{name}: expected 1 to {largest}, got {value}")
        if self.max_position_embeddings * self.d_model > TABLE:
            raise ValueError(f"max_position_embeddings times d_model: expected at most {TABLE:,}")
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise ValueError(f"{name}: expected a probability from 0 to below 1, got {value}")

    def validate_kind(self) -> None:
        """`is_encoder_decoder` is True: transformers reads this field."""
        if not self.is_encoder_decoder:
            raise ValueError(f"is_encoder_decoder: expected True, got {self.is_encoder_decoder}")

    def validate_shape(self) -> None:
        """The width is a multiple of each number of heads, and even, because sinusoids come in sine-cosine pairs."""
        for name in ("encoder_attention_heads", "decoder_attention_heads"):
            if self.d_model % getattr(self, name):
                raise ValueError(f"d_model {self.d_model} is not a multiple of {name} {getattr(self, name)}")
        if self.d_model % 2:
            raise ValueError(f"d_model: expected an even number, got {self.d_model}")

    def validate_special_tokens(self) -> None:
        """Special tokens lie in the vocabulary; padding and the decoder's first token exist."""
        ends = ("pad_token_id", "bos_token_id", "eos_token_id", "unk_token_id", "decoder_start_token_id")
        for name in (*ends, "blank_token_ids"):
            value = getattr(self, name)
            if value is None and name not in ("pad_token_id", "decoder_start_token_id"):
                continue
            ids = value if isinstance(value, list) else [value]
            if not ids or any(one is None or not 0 <= one < self.vocab_size for one in ids):
                raise ValueError(f"{name}: expected 0 to {self.vocab_size - 1} (below vocab_size), got {value}")

    def validate_language_pairs(self) -> None:
        """Each language pair is a source code and a target code."""
        for pair in self.language_pairs or []:
            if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(code, str) for code in pair):
                raise ValueError(f'language_pairs: expected pairs of codes such as ["en", "fr"], got {pair}')

    def validate_supervised_heads(self) -> None:
        """Each supervised head exists in the decoder."""
        sizes = self.decoder_layers, self.decoder_attention_heads
        for place in self.supervised_heads or []:
            if not isinstance(place, list | tuple) or len(place) != 2 or not all(
                type(number) is int and 0 <= number < size for number, size in zip(place, sizes, strict=True)
            ):
                raise ValueError(f"supervised_heads: expected [layer, head] below {list(sizes)}, got {place}")
