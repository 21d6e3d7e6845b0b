"""The measurements of a checkpoint's weights, from the files beside it or in the user's cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from seq2see.errors import UserError
from seq2see.folders import places

if TYPE_CHECKING:
    from .corpora.replay import Replay
    from .heads.alignment_choice import AlignmentChoice
    from .records.calibration import Calibration
    from .records.example_record import Examples
    from .records.roles import Noun, Roles
    from .records.trust import Trust

Result = TypeVar("Result")


@dataclass(frozen=True)
class Measurements:
    """Each file is read on first use, from `folder`, from its parent (a run), or from the user's cache.

    A measurement is None (roles: empty) if its file does not exist, or belongs to weights with another `fingerprint`.
    With `alone`, only `folder` is searched.  Raises UserError for a damaged file.
    """

    folder: Path | None = None
    fingerprint: str = ""
    alone: bool = False

    @cached_property
    def trust(self) -> Trust | None:
        """The faithfulness of each view, measured by `seq2see measure`."""
        from .records.trust import FILE, Trust

        trust = self._beside(FILE, Trust.load)
        return trust if trust and trust.weights == self.fingerprint else None

    @cached_property
    def roles(self) -> Roles:
        """The role of each head, from `seq2see measure`."""
        from .records.roles import FILE, read_roles

        return self._beside(FILE, partial(read_roles, weights=self.fingerprint)) or {}

    @cached_property
    def pronoun_effects(self) -> dict[str, Any] | None:
        """The effect of each head on the pronoun, from the same file."""
        from .records.roles import FILE, read_pronoun_effects

        return self._beside(FILE, partial(read_pronoun_effects, weights=self.fingerprint))

    @cached_property
    def nouns(self) -> frozenset[Noun]:
        """The nouns that *it* and *they* can refer to in the corpus of these roles, from the same file."""
        from .records.roles import FILE, read_nouns

        return self._beside(FILE, partial(read_nouns, weights=self.fingerprint)) or frozenset()

    @property
    def alignment(self) -> AlignmentChoice | None:
        """The choice for deriving word links from this model's maps, fitted by `seq2see measure`."""
        from .heads.alignment_choice import FILE, AlignmentChoice

        choice = self._beside(FILE, AlignmentChoice.load)
        return choice if choice and choice.fingerprint == self.fingerprint else None

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the model's probabilities, fitted by `seq2see measure`."""
        from .records.calibration import FILE, Calibration

        found = self._beside(FILE, Calibration.load)
        return found if found and found.weights == self.fingerprint else None

    @cached_property
    def examples(self) -> Examples | None:
        """The examples of the model's page, chosen by `seq2see measure`."""
        from .records.example_record import FILE, Examples

        found = self._beside(FILE, Examples.load)
        return found if found and found.weights == self.fingerprint else None

    @cached_property
    def replay(self) -> Replay | None:
        """The recorded moments of the model's training."""
        from .corpora.replay import FILE, load_replay

        found = self._beside(FILE, lambda path: load_replay(path.parent))
        return found if found and found.weights == self.fingerprint else None

    def __bool__(self) -> bool:
        """Whether any of the files exists."""
        return bool(self.files())

    def files(self) -> dict[str, Path]:
        """The existing files, by name."""
        from .corpora import replay
        from .heads import alignment_choice
        from .records import calibration, example_record, roles, trust

        names = [one.FILE for one in (alignment_choice, calibration, example_record, replay, roles, trust)]
        return {name: paths[0] for name in names if (paths := self._paths(name))}

    def _beside(self, name: str, read: Callable[[Path], Result]) -> Result | None:
        return next(map(read, self._paths(name)), None)

    def _paths(self, name: str) -> list[Path]:
        """The files of this name, beginning with the one that would be written."""
        if self.folder is None:
            return []
        folders = (self.folder,) if self.alone else (*self._places(), self.folder, self.folder.parent)
        return [folder / name for folder in dict.fromkeys(folders) if (folder / name).is_file()]

    def _places(self) -> tuple[Path, ...]:
        assert self.folder is not None
        return places(self.folder, beside="", cached=f"measurements/{self.fingerprint}")

    def writable(self) -> Path:
        """The folder to write measurements of these weights to; it is created.

        Raises UserError if there is none.
        """
        if self.folder is None:
            raise UserError("the model was not loaded from a folder, so its measurements cannot be saved")
        reason = None
        for place in self._places():
            try:
                place.mkdir(parents=True, exist_ok=True)
                return place
            except OSError as error:
                reason = error.strerror
        raise UserError(f"the measurements of {self.folder} can be written neither there nor to {place} ({reason}): set"
                        " XDG_CACHE_HOME to a writable folder")


NOTHING = Measurements()
