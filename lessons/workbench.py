"""What a lesson works with: the trained model, the corpus, a budget, seeds, a shelf of cached results, one thread."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from transformers import PreTrainedModel

from ..measures.aligner import settings_of
from ..modeling.loading import load_checkpoint
from ..storybook import Storybook, generate
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..training.cache import cache_folder, fingerprint, get_or_build

T = TypeVar("T")


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch computes on one thread inside: how many there are decides in which order sums are made, and so their last
    bits, which a few hundred training steps turn into other weights."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Workbench:
    """`run` is a finished run of the storybook corpus, English to French; `quick`: just enough to show that it runs."""

    run: Path
    quick: bool = False
    shelf: Path = field(default_factory=lambda: cache_folder() / "lessons")

    @property
    def seeds(self) -> tuple[int, ...]:
        """Everything random or trained is repeated for each."""
        return (0,) if self.quick else (0, 1, 2)

    def pick(self, full: T, quick: T) -> T:
        """A setting by the budget."""
        return quick if self.quick else full

    def seed(self, seed: int) -> np.random.Generator:
        """Seeds torch, and gives a generator for the rest; nothing in a lesson is random but by these."""
        torch.manual_seed(seed)
        return np.random.default_rng(seed)

    @cached_property
    def model(self) -> PreTrainedModel:
        """float32, eval mode. Leave it as it is: the next lesson uses it too."""
        return load_checkpoint(self.run)

    @cached_property
    def tokenizer(self) -> Seq2SeeTokenizer:
        return Seq2SeeTokenizer.from_pretrained(self.run)

    @cached_property
    def corpus(self) -> Storybook:
        """Storybook, with its gold, of the run's own seed; small where the budget is."""
        training = settings_of(self.run).get("training")
        seed = training.get("seed", 0) if isinstance(training, dict) else 0
        return generate(seed=seed, train_size=self.pick(20_000, 2_000))

    def cached(self, function: Callable[..., T], *arguments: Any, made_by: Sequence[Any] = ()) -> T:
        """`function(*arguments)`, kept on disk while its source and arguments are the same, and computed on one thread.

        `arguments` are what JSON can hold; `made_by` are functions and classes whose source counts too. The result is
        what torch.load(weights_only=True) reads: tensors, numbers, text, lists and dicts.
        """
        def make(unfinished: Path) -> None:
            with one_thread():
                torch.save(function(*arguments), unfinished / "kept.pt")

        sources = [inspect.getsource(item) for item in (function, one_thread, *made_by)]
        key = fingerprint(sources, arguments, torch.__version__)
        folder = self.shelf / f"{function.__module__.rpartition('.')[2]}-{function.__name__}-{key}"
        return torch.load(get_or_build(folder, make) / "kept.pt", weights_only=True)

    def report_progress(self, text: str) -> None:
        """A line of progress."""
        print(f"    {text}", file=sys.stderr, flush=True)

