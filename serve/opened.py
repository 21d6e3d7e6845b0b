"""A checkpoint, opened: what its files say of it, and its torch model, loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING

from seq2see.errors import UserError
from seq2see.manifest import sha256
from seq2see.serve.checkpoint import Checkpoint, fingerprint
from seq2see.serve.export import weights_hash
from seq2see.serve.plan import Limits

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from seq2see.lens.alignment import AlignmentChoice
    from seq2see.lens.counterparts import KnownChoice
    from seq2see.lens.head_roles import Roles
    from seq2see.lens.trust import Trust

    Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]


class ModelChanged(UserError):
    """The files of a model are not those that were loaded."""

    def __init__(self) -> None:
        super().__init__("the model's files have changed since it was loaded: to look inside, restart the server, or"
                         " load the model again")


def _sums(folder: Path) -> tuple[str, str]:
    """Of all that is loaded: weights, configuration and vocabulary; and how to translate."""
    generation = folder / "generation_config.json"
    return weights_hash(folder), sha256(generation) if generation.is_file() else ""


class Opened:
    """Torch is given the very files that were there at first, or nothing: what translates is what is looked into.

    Args:
        checkpoint: whose files these are, or None where `loaded`, a model and its tokenizer, was handed over.
        trusted: run the model code that the folder ships.
    """

    def __init__(self, name: str, seen_words: Mapping[str, frozenset[str]] | None, *,
                 checkpoint: Checkpoint | None = None, trusted: bool = False, loaded: Loaded | None = None):
        self.name = name
        self._seen_words = seen_words
        self._checkpoint = checkpoint
        self._trusted = trusted
        self._loaded = loaded
        self._fingerprint = fingerprint(checkpoint.folder) if checkpoint else ""
        self._files = _sums(checkpoint.folder) if checkpoint else None
        self._loading = RLock()  # one thread loads, the others wait for it
        self._lock = Lock()  # one at a time: looking switches the attention implementation of the shared model

    @property
    def model(self) -> PreTrainedModel:
        """The torch model, in float32; loaded when it is first asked for."""
        return self._load()[0]

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The transformers tokenizer; loaded with the model."""
        return self._load()[1]

    @contextmanager
    def inside(self) -> Iterator[Loaded]:
        """The torch model and its tokenizer, for nobody else meanwhile: looking inside switches how it attends.

        Not to be entered twice: `look`, `score` and translating by torch wait for it.
        """
        loaded = self._load()
        with self._lock:
            yield loaded

    def _load(self) -> Loaded:
        with self._loading:
            if self._loaded is None:
                from seq2see.serve.loading import load

                assert self._checkpoint is not None
                self.check_files()
                loaded = load(self._checkpoint, trust_remote_code=self._trusted)
                self.check_files()  # they may have changed meanwhile
                self._loaded = loaded
            return self._loaded

    def check_files(self) -> None:
        """ModelChanged where the checkpoint's files are not those that were opened."""
        if self._checkpoint is None:
            return
        try:
            same = _sums(self._checkpoint.folder) == self._files
        except OSError:
            same = False
        if not same:
            raise ModelChanged

    @cached_property
    def trust(self) -> Trust | None:
        """How far each view can be trusted, as `seq2see align RUN --trust` measured it for these very weights; None
        where it did not."""
        from seq2see.lens.trust import FILE, Trust

        path = self.folder / FILE if self.folder else None
        if path is None or not path.is_file():
            return None
        trust = Trust.load(path)
        return trust if trust.weights == self._fingerprint else None

    @cached_property
    def roles(self) -> Roles:
        """What each head is for, as `seq2see heads RUN --json RUN/heads.json` measured it for these very weights."""
        from seq2see.lens.head_roles import FILE, read_roles

        path = self.folder / FILE if self.folder else None
        return {} if path is None or not path.is_file() else read_roles(path, weights=self._fingerprint)

    @property
    def limits(self) -> Limits:
        """How the checkpoint wants to be translated with: of the loaded model, as it is now, or of its files."""
        if self._loaded is not None:
            model = self._loaded[0]
            positions = getattr(model.config, "max_position_embeddings", None)
            return Limits(vars(model.generation_config), positions)  # to_dict would copy all of it at every call
        assert self._checkpoint is not None
        return self._checkpoint.limits

    @property
    def folder(self) -> Path | None:
        """Where the checkpoint lies; None of a model that was handed over."""
        return self._checkpoint.folder if self._checkpoint else None

    @property
    def alignment(self) -> AlignmentChoice | None:
        """How to read links off this model's maps, as `seq2see align RUN --fit` fitted it to these very weights; None
        where it did not."""
        from seq2see.lens.alignment import FILE, AlignmentChoice

        folder = self.folder
        places = (folder / FILE, folder.parent / FILE) if folder else ()  # a run, or one of its checkpoints
        path = next((place for place in places if place.is_file()), None)
        choice = AlignmentChoice.load(path) if path else None
        return choice if choice and choice.fingerprint == self._fingerprint else None

    @cached_property
    def known_choice(self) -> KnownChoice:
        """How links are best read off this model's maps, as far as is known."""
        from seq2see.lens.anatomy import attention_sites
        from seq2see.lens.counterparts import best_known

        sites = attention_sites(self.model)["cross"]
        return best_known(layers=len(sites), heads=sites[-1].heads, fitted=self.alignment, trust=self.trust)

    @property
    def language_pairs(self) -> list[tuple[str, str]]:
        """The (source, target) pairs the checkpoint serves, the default first; empty where it does not say."""
        if self._checkpoint is not None:
            return self._checkpoint.language_pairs
        return [(source, target) for source, target in getattr(self.model.config, "language_pairs", None) or []]

    def seen_words(self, language: str) -> frozenset[str] | None:
        """The words of a source language that were in training; None where the checkpoint does not say."""
        return self._seen_words.get(language) if self._seen_words else None
