"""What a lesson works with: the trained model, the corpus, a budget, seeds, a shelf of cached results, one thread, and
captured module outputs."""

from __future__ import annotations

import inspect
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from ..lens.hooks import replaced
from ..measures.alignment import settings_of
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


def least_seconds(run: Callable[[], object], times: int) -> float:
    """The least processor time of several runs on one thread: whatever disturbs a run can only add to it."""
    seconds = []
    with one_thread():
        for _ in range(times):
            begun = time.process_time()
            run()
            seconds.append(time.process_time() - begun)
    return min(seconds)


@contextmanager
def captured(modules: Iterable[nn.Module], *, inputs: bool = False) -> Iterator[list[list[torch.Tensor]]]:
    """For each module its outputs inside the context, call by call; `inputs`: its inputs."""
    kept: dict[nn.Module, list[torch.Tensor]] = {module: [] for module in modules}
    with replaced((module, "in" if inputs else "out", of.append) for module, of in kept.items()):
        yield list(kept.values())


class Budget(Enum):
    """How much work a lesson does: all of it, or just enough to show that it runs."""

    FULL = "full"
    REDUCED = "reduced"


@dataclass(frozen=True)
class Workbench:
    """`run` is a finished run of the storybook corpus, English to French."""

    run: Path
    budget: Budget = Budget.FULL
    shelf: Path = field(default_factory=lambda: cache_folder() / "lessons")

    @property
    def seeds(self) -> tuple[int, ...]:
        """Everything random or trained is repeated for each."""
        return (0, 1, 2) if self.budget is Budget.FULL else (0,)

    def pick(self, full: T, reduced: T) -> T:
        """A setting by the budget."""
        return full if self.budget is Budget.FULL else reduced

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
        get_or_build(folder, make)
        try:
            kept: T = torch.load(folder / "kept.pt", weights_only=True)
        except Exception as error:  # a file that is cut or overwritten can fail in any way
            self.say(f"{folder} is damaged ({type(error).__name__}): computing it again")
            shutil.rmtree(folder)
            return self.cached(function, *arguments, made_by=made_by)
        return kept

    def say(self, text: str) -> None:
        """A line of progress."""
        print(f"    {text}", file=sys.stderr, flush=True)

