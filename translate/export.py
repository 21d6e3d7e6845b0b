"""A checkpoint in CTranslate2's format: `seq2see export RUN --format ctranslate2 [--quantization int8]`.

And, by `--format endpoint`, with the file that makes it a Hugging Face Inference Endpoint.

`exported` does it by itself where a model is served for the first time, beside the checkpoint or, where that folder
cannot be written to, in the user's cache; under a name that has the hash of the weights, so that weights that have
changed are exported again; and atomically, so that nobody meets half of it.  An export that fails its manifest is made
again too: CTranslate2 reads whatever its files say, and some damage shows only while it translates.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.json_files import read_json
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest, write_manifest
from seq2see.vetting import vet
from .shortlist import spaceless, write_vocabulary_map

KINDS = ("seq2see", "marian")  # of model, that CTranslate2 is given
PARTS = (  # of a model
    "config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer*.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.json", "target_vocab.json", "merges.txt", "*.spm", "*.model",
    "shortlist.json",
)  # fmt: skip
FORMAT = "3"  # of what lies in the folder; counted up when it changes


class NotForCTranslate2(UserError):
    """The model is of a kind or a shape that CTranslate2 has no place for."""


class NoPlaceForExport(UserError):
    """Neither the checkpoint's folder nor the user's cache can be written to."""


def add_handler(run: Path, folder: Path) -> Path:
    """Put `handler.py` and what it needs beside the checkpoint, or into `folder` with a copy of the checkpoint.

    There they are in no package: an Endpoint puts the folder on Python's path.
    """
    if folder != run:
        folder.mkdir(exist_ok=True)
        for path in run.iterdir():
            if path.is_file():
                shutil.copyfile(path, folder / path.name)
    for name in ("handler.py", "decoding.py"):
        code = Path(__file__).with_name(name).read_text("utf-8")
        (folder / name).write_text(code.replace("from .", "from "), encoding="utf-8")
    (folder / "requirements.txt").write_text("transformers>=5.23,<6\n", encoding="utf-8")
    return folder / "handler.py"


def exported(run: Path, *, quantization: str) -> Path:
    """The folder of the export of a checkpoint, made if it is not there, or not intact."""
    name = f"ctranslate2-{quantization}-{weights_hash(run)[:16]}"
    places = [run / name, cache_folder() / name]
    for place in places:
        if is_intact(place):
            return place
    for place in filter(Path.exists, places):
        print(f"the export {place} is damaged or incomplete; exporting again", file=sys.stderr, flush=True)
    errors: list[OSError] = []
    for place in places:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write(run, place, quantization=quantization)
            return place
        except OSError as error:
            errors.append(error)
    raise NoPlaceForExport(
        f"CTranslate2's form of {run} can be written neither there nor to {places[1].parent} ({errors[-1].strerror})"
    )


def is_intact(export: Path) -> bool:
    """Whether an export is there and passes the check of its manifest."""
    try:
        check_manifest(export)
    except (UserError, OSError):
        return False
    return (export / MANIFEST).is_file()


def model_files(run: Path) -> list[Path]:
    """The files that a model is loaded from, and no others that lie beside them; its generation settings apart."""
    return sorted(path for part in PARTS for path in run.glob(part))


def weights_hash(run: Path) -> str:
    """SHA-256 of what the export is made of: the weights, the configuration and the vocabulary."""
    digest = hashlib.sha256(FORMAT.encode())
    for path in model_files(run):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def cache_folder() -> Path:
    """Where exports lie whose checkpoints cannot be written beside."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "seq2see" / "exports"


def write(run: Path, folder: Path, *, quantization: str) -> None:
    """Convert the checkpoint into `folder`, which appears once it is whole; UserError for a model of another kind."""
    converter = make_converter(run)
    scratch = Path(tempfile.mkdtemp(prefix=".ctranslate2-", dir=folder.parent))
    try:
        vmap = scratch / "vmap.txt"
        listed = write_vocabulary_map(run, converter.tokens, vmap)
        try:
            converter.convert(str(scratch / "model"), vmap=str(vmap) if listed else None, quantization=quantization)
        except (ValueError, RuntimeError, KeyError, AttributeError) as error:
            raise NotForCTranslate2(f"CTranslate2 cannot hold {run}: {str(error).splitlines()[0]}") from error
        write_manifest(scratch / "model")
        if not is_intact(folder):  # else another process was first
            shutil.rmtree(folder, ignore_errors=True)
            try:
                (scratch / "model").rename(folder)
            except OSError:
                if not is_intact(folder):
                    raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def make_converter(run: Path) -> Any:
    """CTranslate2's converter for the checkpoint, loaded and checked by our own loader."""
    try:
        from ctranslate2.converters.transformers import BartLoader, TransformersConverter, register_loader
        from ctranslate2.specs import common_spec, transformer_spec
    except ImportError as error:
        raise UserError("this needs CTranslate2: pip install 'seq2see[fast]'") from error
    from .checkpoint import load

    kinds = common_spec.Activation
    activations = {"relu": kinds.RELU, "gelu": kinds.GELU, "gelu_new": kinds.GELUTanh, "silu": kinds.SWISH}

    @register_loader("Seq2SeeConfig")
    class Seq2SeeLoader(BartLoader):
        """Lays a Seq2See model out as CTranslate2 has it: BART's layers, pre-norm, and a table of positions."""

        architecture_name = "AutoModelForSeq2SeqLM"

        def get_model_spec(self, model: Any) -> Any:
            config = model.config
            activation = activations[config.activation_function]
            spec = transformer_spec.TransformerSpec(
                transformer_spec.TransformerEncoderSpec(
                    config.encoder_layers, config.encoder_attention_heads, activation=activation
                ),
                transformer_spec.TransformerDecoderSpec(
                    config.decoder_layers, config.decoder_attention_heads, activation=activation
                ),
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

    vet(run)
    kind = read_json(run / "config.json").get("model_type")
    if kind not in KINDS:
        raise NotForCTranslate2(f"{run} is a {kind} model; only {' and '.join(KINDS)} models are exported")
    model, tokenizer = load(run)

    class Converter(TransformersConverter):
        tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))

        def load_model(self, *args: Any, **kwargs: Any) -> Any:
            return model

        def load_tokenizer(self, *args: Any, **kwargs: Any) -> Any:
            return tokenizer

    if sys.stderr.isatty():
        print(f"exporting {run} for CTranslate2, once", file=sys.stderr, flush=True)
    return Converter(str(run))
