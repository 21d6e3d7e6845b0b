"""The Seq2See network: an encoder for the source, and a decoder that attends to it and writes the target.

    source ids [B,S] -> embed + positions -> N encoder layers -> norm -> source states [B,S,D]
    target ids [B,T] -> embed + positions -> N decoder layers, which look at the source states -> norm -> [B,T,D]
    logits [B,T,V]   =  target states times the transposed embedding matrix

One embedding matrix serves the source, the target and the output: a token scores high if the decoder's state points in
the direction of its embedding.  The decoder's first input is the start token and its first output the language tag
(`<2fr>`), so the encoded source does not depend on the target language.

Generation, caches, attention kernels, saving and loading are those of transformers.  Only the "eager" implementation
records attention weights: `attn_implementation="eager"` with `output_attentions=True`.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from transformers import GenerationMixin, PreTrainedModel
from transformers import initialization as init
from transformers.cache_utils import Cache, DynamicCache, EncoderDecoderCache
from transformers.masking_utils import create_bidirectional_mask, create_causal_mask
from transformers.modeling_outputs import (
    BaseModelOutput,
    BaseModelOutputWithPastAndCrossAttentions,
    Seq2SeqLMOutput,
    Seq2SeqModelOutput,
)
from transformers.modeling_utils import slice_logits_to_keep
from transformers.processing_utils import Unpack
from transformers.utils import TransformersKwargs
from transformers.utils.generic import can_return_tuple, merge_with_config_defaults
from transformers.utils.output_capturing import OutputRecorder, capture_outputs

from .attention import MultiHeadAttention
from .blank import EndAtOnce, blank_rows
from .configuration_seq2see import LANGUAGE_TAGS, Seq2SeeConfig
from .layers import DecoderLayer, EncoderLayer
from .positions import Embedder, SinusoidalPositions, count_positions, sinusoids

if TYPE_CHECKING:  # save_pretrained ships the files whose imports it reads here, run or not
    from .pipeline_seq2see import Seq2SeeTranslationPipeline as Seq2SeeTranslationPipeline

# B batch, S source length, T target length, D model width, V vocabulary


def shift_right(labels_BT: torch.Tensor, *, start: int, pad: int) -> torch.Tensor:
    """The decoder's input for the labels `labels_BT`: the start token, then the labels shifted right by one.

    Reading the correct previous token instead of the model's own prediction is called teacher forcing; it gives all T
    predictions in one pass.  Ignored labels (-100) become padding.
    """
    input_BT = torch.cat((torch.full_like(labels_BT[:, :1], start), labels_BT[:, :-1]), dim=1)
    return input_BT.masked_fill(input_BT == -100, pad)


class Seq2SeePreTrainedModel(PreTrainedModel):
    """The settings of all Seq2See modules for transformers, and the initialisation of their weights."""

    config: Seq2SeeConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    supports_gradient_checkpointing = True
    _no_split_modules = ["EncoderLayer", "DecoderLayer"]
    _skip_keys_device_placement = ["past_key_values"]
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flex_attn = True
    _can_compile_fullgraph = True

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Projections preserve the variance of their input (Glorot and Bengio 2010); embeddings start with norm about
        1, so that after scaling by sqrt(D) they are as large as the sinusoids, and as output weights give logits of
        variance about 1."""
        super()._init_weights(module)
        if isinstance(module, nn.Linear):
            init.xavier_uniform_(module.weight)
        elif isinstance(module, nn.Embedding):
            init.normal_(module.weight, std=self.config.d_model**-0.5)
            # A slice does not carry the parameter's "already loaded" mark, so the parameter itself is checked.
            if not getattr(module.weight, "_is_hf_initialized", False):
                init.zeros_(module.weight[self.config.pad_token_id])
        elif isinstance(module, SinusoidalPositions):
            init.copy_(module.table_PD, sinusoids(*module.table_PD.shape))


class Seq2SeeEncoder(Seq2SeePreTrainedModel):
    """Encodes the whole source: every token may attend to every other."""

    _can_record_outputs = {
        "hidden_states": OutputRecorder(EncoderLayer, num_hidden_layers_key="encoder_layers"),
        "attentions": OutputRecorder(MultiHeadAttention, index=1, num_hidden_layers_key="encoder_layers"),
    }

    def __init__(self, config: Seq2SeeConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model, config.pad_token_id)
        self.embedder = Embedder(config)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.layer_norm = nn.LayerNorm(config.d_model)
        self.gradient_checkpointing = False
        self.post_init()

    @merge_with_config_defaults
    @capture_outputs
    def forward(
        self,
        input_ids: torch.LongTensor | None = None,
        attention_mask: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> BaseModelOutput:
        """Source ids [B, S] (or embeddings [B, S, D], unscaled) to source states [B, S, D].

        Args:
            attention_mask: [B, S], 1 for real tokens and 0 for padding, on either side: positions count real tokens.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("expected exactly one of input_ids and inputs_embeds")
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids)
        mask = create_bidirectional_mask(self.config, inputs_embeds, attention_mask)
        x_BSD = self.embedder(inputs_embeds, position_BT=count_positions(attention_mask, inputs_embeds.shape[1]))
        for layer in self.layers:
            x_BSD = layer(x_BSD, mask, **kwargs)
        return BaseModelOutput(last_hidden_state=self.layer_norm(x_BSD))


class Seq2SeeDecoder(Seq2SeePreTrainedModel):
    """Decodes the target: each token sees the tokens before it and the whole source."""

    _can_record_outputs = {
        "hidden_states": OutputRecorder(DecoderLayer, num_hidden_layers_key="decoder_layers"),
        "attentions": OutputRecorder(
            MultiHeadAttention, index=1, layer_name="self_attn", num_hidden_layers_key="decoder_layers"
        ),
        "cross_attentions": OutputRecorder(
            MultiHeadAttention, index=1, layer_name="encoder_attn", num_hidden_layers_key="decoder_layers"
        ),
    }

    def __init__(self, config: Seq2SeeConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model, config.pad_token_id)
        self.embedder = Embedder(config)
        self.layers = nn.ModuleList(DecoderLayer(config, layer_idx=i) for i in range(config.decoder_layers))
        self.layer_norm = nn.LayerNorm(config.d_model)
        self.gradient_checkpointing = False
        self.post_init()

    @merge_with_config_defaults
    @capture_outputs
    def forward(
        self,
        input_ids: torch.LongTensor | None = None,
        attention_mask: torch.Tensor | None = None,
        encoder_hidden_states: torch.Tensor | None = None,
        encoder_attention_mask: torch.Tensor | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: torch.Tensor | None = None,
        position_ids: torch.LongTensor | None = None,
        use_cache: bool | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """Target ids [B, T] (or embeddings [B, T, D], unscaled) and source states [B, S, D] to target states [B, T, D].

        Args:
            attention_mask: [B, P + T], 1 for real tokens and 0 for padding, where P tokens are already in the cache.
            encoder_attention_mask: [B, S], the mask of the source.
            past_key_values: keys and values of the P earlier tokens and of the source, extended in place.
            position_ids: [B, T]; by default they count the tokens that the mask marks as real or, without a mask, all
                columns.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("expected exactly one of decoder_input_ids and decoder_inputs_embeds")
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids)
        if use_cache and past_key_values is None:
            past_key_values = EncoderDecoderCache(DynamicCache(config=self.config), DynamicCache(config=self.config))
        if past_key_values is not None and not isinstance(past_key_values, EncoderDecoderCache):
            raise ValueError(f"past_key_values: expected an EncoderDecoderCache, got {type(past_key_values).__name__}")

        self_cache = past_key_values.self_attention_cache if past_key_values is not None else None
        causal_mask = create_causal_mask(self.config, inputs_embeds, attention_mask, self_cache)
        source_mask = create_bidirectional_mask(
            self.config, inputs_embeds, encoder_attention_mask, encoder_hidden_states=encoder_hidden_states
        )
        if position_ids is None:
            position_ids = count_positions(attention_mask, inputs_embeds.shape[1])
        start = self_cache.get_seq_length() if self_cache is not None else 0
        x_BTD = self.embedder(inputs_embeds, start=start, position_BT=position_ids)
        for layer in self.layers:
            x_BTD = layer(
                x_BTD, encoder_hidden_states, causal_mask, source_mask, past_key_values=past_key_values, **kwargs
            )
        return BaseModelOutputWithPastAndCrossAttentions(
            last_hidden_state=self.layer_norm(x_BTD), past_key_values=past_key_values
        )


class Seq2SeeModel(Seq2SeePreTrainedModel):
    """Encoder and decoder with a shared embedding matrix, without the output projection."""

    _input_embed_layer = "shared"
    _tied_weights_keys = {
        "encoder.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
    }

    def __init__(self, config: Seq2SeeConfig):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model, config.pad_token_id)
        self.encoder = Seq2SeeEncoder(config)
        self.decoder = Seq2SeeDecoder(config)
        self.post_init()

    def get_expanded_tied_weights_keys(self, all_submodels: bool = False) -> dict[str, str]:
        """Encoder and decoder always share one embedding matrix, `shared`; `tie_word_embeddings` affects only the
        output.
        """
        return dict(self._tied_weights_keys)

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.shared = self.encoder.embed_tokens = self.decoder.embed_tokens = value

    @can_return_tuple
    def forward(
        self,
        input_ids: torch.LongTensor | None = None,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.LongTensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        encoder_outputs: BaseModelOutput | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: torch.Tensor | None = None,
        decoder_inputs_embeds: torch.Tensor | None = None,
        decoder_position_ids: torch.LongTensor | None = None,
        use_cache: bool | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> Seq2SeqModelOutput:
        """Compute target states [B, T, D] from source ids [B, S] and target ids [B, T].

        Args:
            attention_mask, decoder_attention_mask: [B, S] and [B, T], 1 for real tokens and 0 for padding.
            decoder_position_ids: [B, T]; by default they count the tokens that the mask marks as real or, without a
                mask, all columns.
            encoder_outputs: the encoder's output for this source, as an object or a tuple, so that the source is not
                encoded again.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(
                input_ids=input_ids,
                attention_mask=attention_mask,
                inputs_embeds=inputs_embeds,
                return_dict=True,
                **kwargs,
            )
        elif not isinstance(encoder_outputs, BaseModelOutput):
            encoder_outputs = BaseModelOutput(*encoder_outputs)
        decoded = self.decoder(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=encoder_outputs.last_hidden_state,
            encoder_attention_mask=attention_mask,
            past_key_values=past_key_values,
            inputs_embeds=decoder_inputs_embeds,
            position_ids=decoder_position_ids,
            use_cache=use_cache,
            return_dict=True,
            **kwargs,
        )
        return Seq2SeqModelOutput(
            last_hidden_state=decoded.last_hidden_state,
            past_key_values=decoded.past_key_values,
            decoder_hidden_states=decoded.hidden_states,
            decoder_attentions=decoded.attentions,
            cross_attentions=decoded.cross_attentions,
            encoder_last_hidden_state=encoder_outputs.last_hidden_state,
            encoder_hidden_states=encoder_outputs.hidden_states,
            encoder_attentions=encoder_outputs.attentions,
        )


class Seq2SeeForConditionalGeneration(Seq2SeePreTrainedModel, GenerationMixin):
    """The translation model: `Seq2SeeModel` with the embedding matrix as output projection.

    Padding on the left or right does not change a row's output, because positions count only the tokens that the mask
    marks as real.
    """

    _tied_weights_keys = {"lm_head.weight": "model.shared.weight"}

    def __init__(self, config: Seq2SeeConfig):
        super().__init__(config)
        self.model = Seq2SeeModel(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        # Labels are already aligned with predictions: the causal language model loss would shift them again.
        self.loss_type = "ForMaskedLM"
        self.post_init()

    def generate(
        self, inputs: Any = None, generation_config: Any = None, logits_processor: Any = None, *more: Any, **kwargs: Any
    ) -> Any:
        """Generate as transformers does, but return an empty translation for a source of only white space and special
        tokens.
        """
        ids_BS, end = kwargs.get("input_ids") if inputs is None else inputs, self.config.eos_token_id
        if ids_BS is not None and end is not None:
            ends = end if isinstance(end, list) else [end]
            special = [i for i in (self.config.pad_token_id, self.config.bos_token_id, *ends) if i is not None]
            blank_B = blank_rows(ids_BS, special=special, white=self.config.blank_token_ids)
            if blank_B.any():
                logits_processor = [*(logits_processor or []), EndAtOnce(blank_B, end=ends[0])]
        return super().generate(inputs, generation_config, logits_processor, *more, **kwargs)

    def prepare_inputs_for_generation(self, input_ids: torch.LongTensor, **kwargs: Any) -> dict[str, Any]:
        """Count the positions of a target prefix before a static cache changes the shape of the prefix's mask."""
        mask = kwargs.get("decoder_attention_mask")
        inputs: dict[str, Any] = super().prepare_inputs_for_generation(input_ids, **kwargs)
        if mask is not None:
            inputs.setdefault("decoder_position_ids", count_positions(mask, inputs["decoder_input_ids"].shape[1]))
        return inputs

    def prepare_decoder_input_ids_from_labels(self, labels: torch.Tensor) -> torch.Tensor:
        """Make decoder inputs [B, T] from labels [B, T]; transformers' seq2seq collator calls this method.

        Raises:
            ValueError: a row does not begin with a language tag, although the model's translations do.
        """
        if self.config.language_pairs and not torch.compiler.is_compiling():
            self._check_tags(labels)
        start, pad = self.config.decoder_start_token_id, self.config.pad_token_id  # the configuration refuses None here
        return shift_right(labels, start=start, pad=pad)  # type: ignore[arg-type]

    def _check_tags(self, labels_BT: torch.Tensor) -> None:
        first_B = labels_BT[:, 0]
        tagged_B = (first_B >= LANGUAGE_TAGS.start) & (first_B < LANGUAGE_TAGS.stop)
        wrong_B = ~tagged_B & (labels_BT != -100).any(1)  # rows without any label are ignored
        if wrong_B.any():
            raise ValueError(
                f"labels: expected a language tag (id {LANGUAGE_TAGS.start} to {LANGUAGE_TAGS.stop - 1}) at the start"
                f" of each row, padding on the right; got id {first_B[wrong_B][0].item()}. Make them with"
                " Seq2SeeTokenizer(source, text_target=target, tgt_lang=...), or prepend the tag's id: that of"
                f" the model's default language is {self.generation_config.forced_bos_token_id}"
            )

    @can_return_tuple
    def forward(
        self,
        input_ids: torch.LongTensor | None = None,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.LongTensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        encoder_outputs: BaseModelOutput | tuple | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: torch.Tensor | None = None,
        decoder_inputs_embeds: torch.Tensor | None = None,
        decoder_position_ids: torch.LongTensor | None = None,
        labels: torch.LongTensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int | torch.Tensor = 0,
        num_items_in_batch: int | torch.Tensor | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> Seq2SeqLMOutput:
        """Compute logits [B, T, V], and a loss if labels are given, from source ids [B, S] and target ids [B, T].

        Args:
            labels: [B, T], the tokens to predict; -100 is ignored in the loss.  Without decoder inputs, `shift_right`
                makes them from the labels.
            logits_to_keep: the positions whose logits are computed (`slice_logits_to_keep`): 0 for all, n for the last
                n, or a boolean [B, T].  The logits of a boolean mask are flattened to [N, V].
            num_items_in_batch: the number of labels in the whole batch, if this call has only a part of the batch.  The
                loss is then the sum over this part divided by this number, so that accumulated gradients are exact.
                Without it, the loss is the mean over this part.
        """
        if labels is not None:
            use_cache = False
            if decoder_input_ids is None and decoder_inputs_embeds is None:
                decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        outputs = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=decoder_input_ids,
            decoder_attention_mask=decoder_attention_mask,
            encoder_outputs=encoder_outputs,
            past_key_values=past_key_values,
            inputs_embeds=inputs_embeds,
            decoder_inputs_embeds=decoder_inputs_embeds,
            decoder_position_ids=decoder_position_ids,
            use_cache=use_cache,
            return_dict=True,
            **kwargs,
        )
        logits_BTV = self.lm_head(slice_logits_to_keep(outputs.last_hidden_state, logits_to_keep))
        loss = None
        if labels is not None:
            loss = self.loss_function(
                logits_BTV, labels, vocab_size=self.config.vocab_size, num_items_in_batch=num_items_in_batch
            )
        others = {name: value for name, value in outputs.items() if name != "last_hidden_state"}
        return Seq2SeqLMOutput(loss=loss, logits=logits_BTV, **others)
