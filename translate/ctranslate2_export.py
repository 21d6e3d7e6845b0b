"""A checkpoint in CTranslate2's format: `seq2see export RUN`.

`exported` creates the CTranslate2 export when a model is first used: beside the checkpoint or, if that folder is not
writable or is a download, in the user's cache.  Its name contains a hash of the weights, so changed weights are
exported again; so is an export that fails its manifest check: CTranslate2 may load damaged files without an error.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import UserError
from seq2see.folders import places
from seq2see.importing import IMPORTS
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest, sha256, write_manifest
from .loaded_checkpoint import LoadedCheckpoint, model_files

if TYPE_CHECKING:
    from ctranslate2.converters.transformers import BartLoader
    from ctranslate2.specs.transformer_spec import TransformerSpec
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# The model types exported to CTranslate2.  Those laid out as BART: whether a layer norm comes before each block, and
# whether one follows the embeddings.  CTranslate2 reads that in the configuration, where transformers 5 has it no more.
LIKE_BART = {
    "bart": (False, True), "blenderbot": (True, False), "m2m_100": (True, False), "marian": (False, False),
    "mbart": (True, True), "pegasus": (True, False), "plbart": (False, True),
}
LIKE_T5 = ("t5", "mt5", "umt5")
VOCABULARY = "shared_vocabulary.json"  # in an export: the name of each id
# Injective: no two tokens get the same name.
_NAMES = str.maketrans({" ": "▁", "▁": "\\▁", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
FORMAT = "3"  # version of the folder's content; incremented when it changes


class NotForCTranslate2(UserError):
    """Raised if CTranslate2 does not support the type or shape of the model, or if its export cannot be written."""


def exported(run: Path, *, quantization: str) -> Path:
    """The folder of a checkpoint's export, which is created if it is missing or damaged."""
    name = f"ctranslate2-{quantization}-{weights_hash(run)[:16]}"
    writable = places(run, beside=name, cached=f"exports/{name}")
    for place in (run / name, *writable):
        if is_intact(place):
            return place
    reason = None
    for place in writable:
        if place.exists():
            print(f"the export {place} is damaged or incomplete; exporting again", file=sys.stderr, flush=True)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write(run, place, quantization=quantization)
            return place
        except OSError as error:
            reason = error.strerror
    raise NotForCTranslate2(f"the CTranslate2 export of {run} can be written neither there nor to"
                            f" {writable[-1].parent} ({reason}):"
                            " set XDG_CACHE_HOME to a writable folder")


def is_intact(export: Path) -> bool:
    """Whether an export exists and passes its manifest check."""
    try:
        check_manifest(export)
    except (UserError, OSError):
        return False
    return (export / MANIFEST).is_file()


def weights_hash(run: Path) -> str:
    """SHA-256 of everything the export depends on: weights, configuration and vocabulary."""
    digest = hashlib.sha256(FORMAT.encode())
    for path in model_files(run):
        digest.update(path.name.encode())
        digest.update(bytes.fromhex(sha256(path)))
    return digest.hexdigest()


def write(run: Path, folder: Path, *, quantization: str) -> None:
    """Convert the checkpoint into `folder`, which appears once it is complete.

    Raises UserError for an unsupported model.
    """
    try:
        with IMPORTS:
            import ctranslate2  # noqa: F401
    except ImportError as error:
        raise UserError("exporting needs CTranslate2: pip install 'seq2see[fast]'") from error

    checkpoint = LoadedCheckpoint(str(run), run, device="cpu")
    if reason := why_not(checkpoint):
        raise NotForCTranslate2(reason)
    model, tokenizer = checkpoint.model.requires_grad_(False), checkpoint.tokenizer
    with tempfile.TemporaryDirectory(prefix=".ctranslate2-", dir=folder.parent) as scratch:
        made = Path(scratch) / "model"
        try:
            # CTranslate2's own converter would load the model a second time, without our checks.
            spec = specification(model)
            names = vocabulary(tokenizer, spec.get_source_vocabulary_size()[0])
            spec.register_source_vocabulary(names)
            spec.register_target_vocabulary(names)
            for role, id in special_ids(model, tokenizer).items():
                setattr(spec.config, role, names[id])
            spec.validate()
            spec.optimize(quantization=quantization)
        except (ValueError, RuntimeError, KeyError, AttributeError) as error:
            raise NotForCTranslate2(f"CTranslate2 does not support {run}: {str(error).splitlines()[0]}") from error
        made.mkdir()
        spec.save(str(made))
        write_manifest(made)
        try:
            made.rename(folder)
        except OSError:  # it holds a damaged export, or another process was first
            if not is_intact(folder):
                shutil.rmtree(folder, ignore_errors=True)
                made.rename(folder)


def why_not(checkpoint: LoadedCheckpoint) -> str | None:
    """Why CTranslate2 cannot run a checkpoint, as far as its settings show; None if it can."""
    if checkpoint.model_type not in ("seq2see", *LIKE_BART, *LIKE_T5):
        return f"CTranslate2 does not support {checkpoint.name}, a {checkpoint.model_type} model"
    if checkpoint.separate_vocabularies:
        return f"CTranslate2 does not support {checkpoint.name}, whose source and target have vocabularies of their own"
    return None


def specification(model: PreTrainedModel) -> TransformerSpec:
    """The model's weights in CTranslate2's layout."""
    with IMPORTS:
        from ctranslate2.converters.transformers import BartLoader, M2M100Loader, T5Loader, UMT5Loader
        from ctranslate2.specs.model_spec import OPTIONAL

    kind, config = model.config.model_type, model.config
    if kind == "seq2see":
        return seq2see_loader().get_model_spec(model)
    if kind in LIKE_T5:
        spec = (UMT5Loader if kind == "umt5" else T5Loader)().get_model_spec(model)
        scaled = config.scale_decoder_outputs if kind == "t5" else kind == "umt5"
        spec.decoder.scale_outputs = config.d_model**-0.5 if scaled else OPTIONAL
        return spec
    config.normalize_before, config.normalize_embedding = LIKE_BART[kind]
    if kind != "m2m_100":
        return BartLoader().get_model_spec(model)
    spec = M2M100Loader().get_model_spec(model)
    for side, module in (spec.encoder, model.model.encoder), (spec.decoder, model.model.decoder):
        side.position_encodings.encodings = module.embed_positions.weights[config.pad_token_id + 1 :]
    return spec


def seq2see_loader() -> BartLoader:
    """Converts a Seq2See model to CTranslate2's layout: BART's layers, pre-norm, and a position table."""
    with IMPORTS:
        from ctranslate2.converters.transformers import BartLoader
        from ctranslate2.specs.common_spec import Activation
        from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec

    kinds = {"relu": Activation.RELU, "gelu": Activation.GELU, "gelu_new": Activation.GELUTanh,
             "silu": Activation.SWISH}

    class Seq2SeeLoader(BartLoader):
        def get_model_spec(self, model: Any) -> Any:
            config = model.config
            kind = kinds[config.activation_function]
            spec = TransformerSpec(
                TransformerEncoderSpec(config.encoder_layers, config.encoder_attention_heads, activation=kind),
                TransformerDecoderSpec(config.decoder_layers, config.decoder_attention_heads, activation=kind),
            )
            self.set_encoder(spec.encoder, model.model.encoder)
            self.set_decoder(spec.decoder, model.model.decoder)
            self.set_linear(spec.decoder.projection, model.lm_head)
            return spec

        def set_common_layers(self, spec: Any, module: Any) -> None:
            spec.scale_embeddings = module.embedder.scale
            spec.position_encodings.encodings = module.embedder.positions.table_PD
            embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
            self.set_embeddings(embeddings, module.embed_tokens)
            self.set_layer_norm(spec.layer_norm, module.layer_norm)

    return Seq2SeeLoader()


def special_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Mapping[str, int]:
    """The ids that CTranslate2 must know, by their names in its configuration.

    Raises ValueError if there are none.
    """
    defaults = model.generation_config
    start = defaults.bos_token_id if defaults.decoder_start_token_id is None else defaults.decoder_start_token_id
    ends = defaults.eos_token_id if isinstance(defaults.eos_token_id, list) else [defaults.eos_token_id]
    if start is None or ends[0] is None:
        raise ValueError("its configuration does not name the tokens that begin and end a translation")
    unknown = ends[0] if tokenizer.unk_token_id is None else tokenizer.unk_token_id
    return {"decoder_start_token": start, "bos_token": start, "eos_token": ends[0], "unk_token": unknown}


def vocabulary(tokenizer: PreTrainedTokenizerBase, size: int) -> list[str]:
    """A name without spaces for each of the model's ids: the tokenizer's, or `<id-ID>` if it has none."""
    known = min(size, len(tokenizer))
    names: dict[str, int] = {}
    for id, token in enumerate([*tokenizer.convert_ids_to_tokens(range(known)), *[None] * (size - known)]):
        name = spaceless(str(token))
        names[f"<id-{id}>" if token is None or name in names else name] = id
    if len(names) < size:
        raise ValueError("several tokens of its tokenizer have the same name")
    return list(names)


def spaceless(token: str) -> str:
    """The name of a token in CTranslate2's vocabulary, without spaces."""
    return token.translate(_NAMES)
