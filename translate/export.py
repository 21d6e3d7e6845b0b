"""A checkpoint in CTranslate2's format, or as a Hugging Face Inference Endpoint: `seq2see export RUN --format NAME`.

`exported` creates the CTranslate2 export when a model is first used: beside the checkpoint or, if that folder is not
writable, in the user's cache.  Its name contains a hash of the weights, so changed weights are exported again; so is an
export that fails its manifest check, since CTranslate2 may load damaged files without an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from seq2see.json_files import read_json
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest, sha256, write_manifest
from seq2see.pretrained import is_packaged
from seq2see.vetting import vet
from .loaded_checkpoint import load, model_files

if TYPE_CHECKING:
    from ctranslate2.converters.transformers import BartLoader

KINDS = ("seq2see", "marian")  # model types exported to CTranslate2
SHORTLIST = "shortlist.json"
# Injective: no two tokens get the same name.
_NAMES = str.maketrans({" ": "▁", "▁": "\\▁", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
FORMAT = "3"  # version of the folder's content; incremented when it changes


class NotForCTranslate2(UserError):
    """CTranslate2 does not support the type or shape of the model, or its export cannot be written."""


def exported(run: Path, *, quantization: str) -> Path:
    """The folder of a checkpoint's export, created if it is missing or damaged."""
    name = f"ctranslate2-{quantization}-{weights_hash(run)[:16]}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seq2see" / "exports"
    places = (run / name, cache / name)
    for place in places:
        if is_intact(place):
            return place
    reason = None
    for place in places[is_packaged(run):]:  # never written beside a packaged model
        if place.exists():
            print(f"the export {place} is damaged or incomplete; exporting again", file=sys.stderr, flush=True)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write(run, place, quantization=quantization)
            return place
        except OSError as error:
            reason = error.strerror
    raise NotForCTranslate2(f"the CTranslate2 export of {run} can be written neither there nor to {cache} ({reason}):"
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
    """Convert the checkpoint into `folder`, which appears once it is complete; UserError for an unsupported model."""
    try:
        with IMPORTS:
            from ctranslate2.converters.transformers import MarianMTLoader
    except ImportError as error:
        raise UserError("exporting needs CTranslate2: pip install 'seq2see[fast]'") from error

    vet(run)
    kind = read_json(run / "config.json").get("model_type")
    if kind not in KINDS:
        raise NotForCTranslate2(f"{run} is a {kind} model; only {' and '.join(KINDS)} models can be exported")
    model, tokenizer = load(run)
    # CTranslate2's own converter would load the model a second time, without our checks.
    loader = seq2see_loader() if kind == "seq2see" else MarianMTLoader()
    with tempfile.TemporaryDirectory(prefix=".ctranslate2-", dir=folder.parent) as scratch:
        made, vmap = Path(scratch) / "model", Path(scratch) / "vmap.txt"
        listed = write_vocabulary_map(run, tokenizer.convert_ids_to_tokens(range(len(tokenizer))), vmap)
        try:
            spec = loader(model.requires_grad_(False), tokenizer)
            if listed:
                spec.register_vocabulary_mapping(str(vmap))
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


def seq2see_loader() -> BartLoader:
    """Converts a Seq2See model to CTranslate2's layout: BART's layers, pre-norm, and a position table."""
    with IMPORTS:
        from ctranslate2.converters.transformers import BartLoader
        from ctranslate2.specs.common_spec import Activation
        from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec

    kinds = {"relu": Activation.RELU, "gelu": Activation.GELU, "gelu_new": Activation.GELUTanh,
             "silu": Activation.SWISH}  # fmt: skip

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

        def get_vocabulary(self, model: Any, tokenizer: Any) -> list[str]:
            return list(map(spaceless, super().get_vocabulary(model, tokenizer)))

        def set_common_layers(self, spec: Any, module: Any) -> None:
            spec.scale_embeddings = module.embedder.scale
            spec.position_encodings.encodings = module.embedder.positions.table_PD
            embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
            self.set_embeddings(embeddings, module.embed_tokens)
            self.set_layer_norm(spec.layer_norm, module.layer_norm)

    return Seq2SeeLoader()


def spaceless(token: str) -> str:
    """The name of a token in CTranslate2's vocabulary, without spaces."""
    return token.translate(_NAMES)


def write_vocabulary_map(run: Path, tokens: Sequence[str], path: Path) -> bool:
    """Write the run's shortlist to `path`; False if it has none, UserError if it is invalid.

    A line has a source token, a tab, and its candidate target tokens, separated by spaces; the line with an empty
    source token lists those that are always candidates.  So a token must not contain spaces.
    """
    try:
        content = json.loads((run / SHORTLIST).read_text("utf-8"))
        rows = [("", content["always"]), *((tokens[int(key)], ids) for key, ids in content["candidates"].items())]
        named = [(spaceless(source), [spaceless(tokens[id]) for id in ids]) for source, ids in rows]
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UserError(f"{run / SHORTLIST} is not a valid shortlist for this vocabulary; remove it") from error
    path.write_text("".join(f"{source}\t{' '.join(targets)}\n" for source, targets in named if targets), "utf-8")
    return True
