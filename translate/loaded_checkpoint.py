"""A checkpoint: its translation settings, read without torch, and its torch model, loaded on demand."""

from __future__ import annotations

import copy
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from seq2see.errors import UserError, as_user_error
from seq2see.folders import check_folder, weight_files
from seq2see.importing import IMPORTS
from seq2see.json_files import read_json
from seq2see.manifest import sha256
from ..lens.measurements import NOTHING, Measurements
from ..tokenizer.language_pairs import LanguagePairs
from ..tokenizer.tagging import language_pairs
from .decoding import GenerationDefaults, check_generation
from .devices import Device, torch_device
from .pinned_files import PinnedFiles

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from ..lens.corpora.replay import Replay
    from ..lens.heads.alignment_choice import AlignmentChoice
    from ..lens.records.calibration import Calibration
    from ..lens.records.roles import Roles
    from ..lens.records.trust import Trust

    Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]

PARTS = (  # of a model, besides its weights
    "config.json", "tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab*.json", "vocab*.txt",
    "target_vocab.json", "merges.txt", "*.spm", "*.model", "*.bin.index.json", "*.safetensors.index.json",
)

ALSO_READ = ("generation_config.json", "examples.json", "metrics.json")


class ModelChanged(UserError):
    """The files of a model have changed since it was loaded."""

    def __init__(self) -> None:
        super().__init__("the model's files have changed since it was loaded: reload the model to look inside")


class LoadedCheckpoint:
    """A checkpoint whose torch model is loaded on demand, from unchanged files only, so it is the model that
    translates.

    `files` is the folder that they are read from: `folder`, until `pin`.

    Args:
        folder: the checkpoint's folder, or None if `loaded`, a model and its tokenizer, is given.
        trusted: run the model code in the folder.
        device: the device of the torch model from the folder; a given model stays on its device.

    Raises:
        UserError: a folder with an invalid file.
    """

    def __init__(self, name: str, folder: Path | None = None, *, trusted: bool = False, loaded: Loaded | None = None,
                 device: Device = "auto"):
        self.name = name
        self.folder = self.files = folder
        self.device = device
        self._trusted = trusted
        self._loaded = loaded
        self._seen_words: dict[str, frozenset[str]] = {}  # for each language, the casefolded words of its training text
        self._file_checksums: dict[str, str] = {}
        self._config: dict[str, Any] = {}
        if folder is not None:
            self._config = check_folder(folder)
            self._generation = _read(folder / "generation_config.json")
            words = _read(folder / "seen_words.json")
            self._seen_words = {language: frozenset(known) for language, known in words.items()}
            self._file_checksums = _checksums(folder)
        self.measured_files = Measurements(folder, fingerprint(folder) if folder else "")  # of the weights there
        self._loading = RLock()  # one thread loads, the others wait
        self._lock = Lock()  # looking inside switches the attention implementation of the shared model
        self._twins: list[Loaded] = []  # not in use

    def pin(self) -> None:
        """Keep the present files, even if they are replaced, so that later reads get the same model.

        This is for servers.  Later measurements of the model are not seen.  Raises ModelChanged if the files have
        changed since the model was loaded.
        """
        if self.folder is None:
            return
        names = [*model_files(self.folder), *(self.folder / name for name in ALSO_READ)]
        files = {path.name: path for path in names if path.is_file()} | self.measured_files.files()
        try:
            self._pinned = PinnedFiles(files)
        except OSError as error:
            print(f"{self.name}: its files cannot be pinned ({error.strerror}): if they change, looking inside"
                  " needs a reload", file=sys.stderr, flush=True)
            return
        self.files = self._pinned.folder
        self.check_files()
        self.measured_files = Measurements(self.files, self.measured_files.fingerprint, alone=True)

    @property
    def model(self) -> PreTrainedModel:
        """The PyTorch model, in float32; loaded on first use."""
        return self._load()[0]

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The transformers tokenizer; loaded on first use, without the model."""
        return self._loaded[1] if self._loaded else self._tokenizer_of_folder

    @contextmanager
    def inside(self) -> Iterator[Loaded]:
        """The PyTorch model and its tokenizer, locked, because looking inside switches the attention implementation.

        Do not nest it: `look`, `score` and translating with PyTorch wait for it.
        """
        loaded = self._load()
        with self._lock:
            yield loaded

    @contextmanager
    def separate_copy(self) -> Iterator[Self]:
        """The same checkpoint with separate modules for the same weights, so that several threads can look inside at
        once.
        """
        try:
            loaded = self._twins.pop()
        except IndexError:
            loaded = self._twin_modules()
        made = copy.copy(self)  # all but these three is shared, also what a subclass has
        made._loaded, made._lock, made._twins = loaded, Lock(), []
        try:
            yield made
        finally:
            self._twins.append(loaded)

    def _twin_modules(self) -> Loaded:
        with self.inside() as (model, tokenizer):
            shared = {id(weight): weight for weight in (*model.parameters(), *model.buffers())}
            return copy.deepcopy(model, shared), tokenizer

    def _load(self) -> Loaded:
        with self._loading:
            if self._loaded is None:
                with IMPORTS:
                    from ..passes.weights_checksum import checksum

                self.check_files()
                device = torch_device(self.device)
                loaded = self._model_of_folder().to(device), self.tokenizer
                self.check_files()  # they may have changed while loading
                self._checksum = checksum(loaded[0])
                self._loaded = loaded
            return self._loaded

    def _model_of_folder(self) -> PreTrainedModel:
        assert self.files is not None
        # While a model loads too: transformers uses process-wide switches, and imports more of itself.
        with IMPORTS, self._naming_folder():
            from ..modeling.loading import load_checkpoint

            model = load_checkpoint(self.files, trust_remote_code=self._trusted)
        check_sizes(model, self.tokenizer, name=str(self.folder))
        return model

    @cached_property
    def _tokenizer_of_folder(self) -> PreTrainedTokenizerBase:
        assert self.files is not None
        with IMPORTS, self._naming_folder():
            from ..modeling.loading import load_config
            from .tokenizer_files import build_tokenizer

            load_config(self.files, trust_remote_code=self._trusted)  # UserError, by its type, for another model
            return build_tokenizer(self.files, str(self._config["model_type"]), trust_remote_code=self._trusted)

    @contextmanager
    def _naming_folder(self) -> Iterator[None]:
        """Errors name the model's own folder, not that of the pinned files."""
        try:
            yield
        except UserError as error:
            raise UserError(str(error).replace(str(self.files), str(self.folder)), exit_code=error.exit_code) from error

    def check_files(self) -> None:
        """Raises ModelChanged if the checkpoint's files have changed since they were opened."""
        if self.files is None:
            return
        try:
            unchanged = _checksums(self.files) == self._file_checksums
        except (UserError, OSError):  # files are missing
            unchanged = False
        if not unchanged:
            raise ModelChanged

    @property
    def model_type(self) -> str:
        return str(self._config.get("model_type"))

    @cached_property
    def separate_vocabularies(self) -> bool:
        """Whether source and target have different tokens for the same ids (some Marian), as the folder says."""
        return self.files is not None and bool(_read(self.files / "tokenizer_config.json").get("separate_vocabs"))

    @property
    def defaults(self) -> GenerationDefaults:
        """The checkpoint's decoding defaults: those of the loaded model in its present state, or those of its files."""
        if self._loaded is not None:
            model = self._loaded[0]
            positions = getattr(model.config, "max_position_embeddings", None)
            return GenerationDefaults(vars(model.generation_config), positions)  # to_dict would copy on every call
        return self._defaults_of_files

    @cached_property
    def _defaults_of_files(self) -> GenerationDefaults:
        """The defaults that the loaded model will have: from generation_config.json or, in older folders, from
        config.json.
        """
        file = "generation_config.json" if self._generation else "config.json"
        where = f"{self.folder}/{file}"
        if self.folder is None or self.model_type == "seq2see":
            settings = {**self._config, **self._generation}
            check_generation(settings, tokens=settings.get("vocab_size"), where=where)
            return GenerationDefaults(settings, self._config.get("max_position_embeddings"))
        with IMPORTS:
            from transformers import GenerationConfig

            from ..modeling.loading import load_config

        config = load_config(self.folder, trust_remote_code=self._trusted)
        with as_user_error(f"the decoding options in {self.folder} cannot be read"):
            # As `from_pretrained` does: the class of the config drops what older repositories say there.
            found = GenerationConfig.from_pretrained(self.folder, config_file_name=file, local_files_only=True,
                                                     _from_model_config=not self._generation)
        tokens = getattr(config, "decoder_vocab_size", None) or getattr(config, "vocab_size", None)
        check_generation(vars(found), tokens=tokens, where=where)
        return GenerationDefaults(vars(found), getattr(config, "max_position_embeddings", None))

    @property
    def config(self) -> Any:
        """The model's configuration, by attribute: that of the loaded model or of its file."""
        return self.model.config if self.folder is None else SimpleNamespace(**self._config)

    @cached_property
    def language_pairs(self) -> LanguagePairs:
        """The supported (source, target) pairs, the default first; empty if unknown."""
        config = self.config
        named = getattr(config, "language_pairs", None)
        if named or config.model_type == "seq2see":
            return LanguagePairs.of(named or [])
        return language_pairs(config, self.tokenizer)

    def seen_words(self, language: str) -> frozenset[str] | None:
        """The words of a source language seen in training; None if unknown."""
        return self._seen_words.get(language)

    # --- what was measured

    @property
    def measurements(self) -> Measurements:
        """The measurements of the model beside its files, if they are valid now.

        They are not valid after the torch model was trained further or changed otherwise, or inside an intervention
        such as `lens.ablate`.  A call reads the weights and takes some milliseconds, so call it once for several
        measurements.
        """
        if self._loaded is None or not self.measured_files:
            return self.measured_files
        with IMPORTS:
            from ..passes.hooks import intervened
            from ..passes.weights_checksum import checksum

        model = self._loaded[0]
        as_loaded = not intervened(model) and checksum(model) == self._checksum
        return self.measured_files if as_loaded else NOTHING

    @property
    def trust(self) -> Trust | None:
        return self.measurements.trust

    @property
    def roles(self) -> Roles:
        return self.measurements.roles

    @property
    def pronoun_effects(self) -> dict[str, Any] | None:
        return self.measurements.pronoun_effects

    @property
    def alignment(self) -> AlignmentChoice | None:
        return self.measurements.alignment

    @property
    def calibration(self) -> Calibration | None:
        return self.measurements.calibration

    @property
    def replay(self) -> Replay | None:
        return self.measurements.replay

    @property
    def known_choice(self) -> AlignmentChoice:
        """The best known choice for deriving word links from this model's maps."""
        with IMPORTS:
            from ..lens.heads.alignment_choice import best_known
            from ..passes.hooks import attention_sites

        sites = attention_sites(self.model)["cross"]
        known = self.measurements
        return best_known(layers=len(sites), heads=sites[-1].heads, fitted=known.alignment, trust=known.trust)


def fingerprint(folder: Path) -> str:
    """Identifies the weights in a folder: the beginning of the SHA-256 of its weight files."""
    digest = hashlib.sha256()
    for path in sorted(weight_files(folder)):
        digest.update(bytes.fromhex(sha256(path)))
    return digest.hexdigest()[:16]


def _checksums(folder: Path) -> dict[str, str]:
    """The checksums of every file that is loaded: weights, configuration, vocabulary and generation settings."""
    files = [*model_files(folder), *folder.glob("generation_config.json")]
    return {path.name: sha256(path) for path in files}


def _read(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def model_files(run: Path) -> list[Path]:
    """The files that a model is loaded from, without its generation settings."""
    return sorted({path for part in PARTS for path in run.glob(part)} | {*weight_files(run)})


def check_sizes(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str) -> None:
    """Raises UserError for a vocabulary that is larger than the model's; tokens that a class of transformers adds, such
    as languages, do not count, since no text becomes one of them.
    """
    rows, added = model.get_input_embeddings().num_embeddings, tokenizer.added_tokens_decoder
    tokens = 1 + max((id for id in tokenizer.get_vocab().values() if id not in added), default=-1)
    if tokens > rows:
        raise UserError(f"{name}: the tokenizer has {tokens} tokens, the model {rows}: use the model's own tokenizer")
