"""A toy language to train on: small, regular, and with words enough for sentences of unlike length.  And how to train
on it: a Trainer, or the command `seq2see train`, with a model that learns in a second."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import GenerationConfig, TrainerCallback

from seq2see.cli.command import main
from seq2see.modeling import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.batching import EncodedPairs
from seq2see.training.pairs import Pair
from seq2see.training.trainer import Seq2SeeTrainer

WORDS = {
    "dog": "chien", "cat": "chat", "bird": "oiseau", "horse": "cheval", "sees": "voit", "hears": "entend",
    "follows": "suit", "small": "petit", "big": "grand", "red": "rouge", "never": "jamais", "often": "souvent",
    "today": "aujourd'hui", "here": "ici", "the": "le", "a": "un",
}

SHAPE = [  # what a model that is fine-tuned has already
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32",
]
SETTINGS = [
    "training.max_tokens=300", "training.num_train_epochs=2", "training.use_cpu=true", "training.ema_decay=0.9",
    "evaluation.eval_samples=10", "generation.max_length=20", "generation.num_beams=1", "data.val_fraction=0.1",
]
SAMPLE = Path(__file__).with_name("sample.txt")  # storybook's, which is the default, takes seconds to write


def train(*overrides: str) -> int:
    """The exit code of `seq2see train` with the recipe for one's own pairs."""
    new = not any(item.startswith("model.init_from=") for item in overrides)
    own = SHAPE if new else [f"evaluation.sample={SAMPLE}"]
    return main(["train", "finetune", "--no-measures", *own, *SETTINGS, *overrides])


def last_error(capsys) -> str:
    """The one line that an error leaves on stderr, after what was said before it."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert not any("Traceback" in line or "internal" in line for line in lines)
    return lines[-1]


def toy_pairs(count: int, *, seed: int = 0) -> list[Pair]:
    """Distinct sentences of 2 to 9 words, translated word by word."""
    rng = random.Random(seed)
    found: dict[str, Pair] = {}
    while len(found) < count:
        words = rng.choices(sorted(WORDS), k=rng.randint(2, 9))
        source = " ".join(words)
        found[source] = Pair(source, " ".join(WORDS[word] for word in words), "en", "fr")
    return list(found.values())


def tiny_model(tokenizer: Seq2SeeTokenizer, *, dropout: float = 0.0) -> Seq2SeeForConditionalGeneration:
    """The same random weights each time."""
    torch.manual_seed(0)
    config = Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, dropout=dropout, max_position_embeddings=64,
        language_pairs=[["en", "fr"]],
    )
    model = Seq2SeeForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, max_length=40, num_beams=1,
        forced_bos_token_id=tokenizer.tag_id("fr"),
    )
    return model


@pytest.fixture(autouse=True)
def undrawn(monkeypatch) -> None:
    """The curve, which takes longer than a few steps, is drawn of the runs that a module shares."""
    monkeypatch.setattr("seq2see.training.finishing.draw_curve", lambda path, *_, **__: path.write_bytes(b""))


@pytest.fixture(scope="session")
def pairs() -> list[Pair]:
    return toy_pairs(60)


@pytest.fixture(scope="session")
def tokenizer(pairs):
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    return train_tokenizer(texts, vocab_size=400, languages=["fr"])


@pytest.fixture
def make_trainer(pairs, tokenizer, tmp_path) -> Callable[..., Seq2SeeTrainer]:
    return trainer_maker(pairs, tokenizer, tmp_path / "run")


def trainer_maker(pairs: list[Pair], tokenizer: Seq2SeeTokenizer, run: Path) -> Callable[..., Seq2SeeTrainer]:
    """What makes a trainer of a fresh tiny model (the same weights each time) on the toy pairs."""
    def make(*, dropout: float = 0.0, train_pairs: list[Pair] | None = None, **fields) -> Seq2SeeTrainer:
        defaults = {
            "output_dir": str(run), "max_tokens": 200, "max_steps": 6, "warmup_steps": 2, "use_cpu": True,
            "eval_strategy": "no", "save_strategy": "no", "load_best_model_at_end": False, "logging_steps": 1,
            "bf16": False, "disable_tqdm": True,
        }
        return Seq2SeeTrainer(
            tiny_model(tokenizer, dropout=dropout),
            Seq2SeeTrainingArguments(**{**defaults, **fields}),
            train_dataset=EncodedPairs(train_pairs or pairs, tokenizer, max_length=64),
            eval_dataset=EncodedPairs(pairs[:10], tokenizer, max_length=64),
            processing_class=tokenizer,
        )

    return make


@pytest.fixture(scope="session")
def trained(pairs, tokenizer, tmp_path_factory) -> Path:
    """A run folder with checkpoint-2, -4 and -6, averaged weights included: to be read only."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    made = trainer_maker(pairs, tokenizer, folder)
    made(ema_decay=0.9, save_strategy="steps", save_steps=2, save_total_limit=9).train()
    return folder


@pytest.fixture
def run(trained, tmp_path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.fixture(scope="session")
def toy_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "toy.tsv"
    path.write_text("en\tfr\n" + "".join(f"{pair.source}\t{pair.target}\n" for pair in toy_pairs(200)), "utf-8")
    return path


class At(TrainerCallback):
    """Does something at the end of a step."""

    def __init__(self, step, action):
        self.step, self.action = step, action

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            self.action()


@pytest.fixture
def at(monkeypatch):
    """Has every trainer made from now on do something at a step; None: nothing more."""
    make = Seq2SeeTrainer.__init__

    def arrange(step, action):
        def init(self, *args, **kwargs):
            make(self, *args, **kwargs)
            if action:
                self.add_callback(At(step, action))

        monkeypatch.setattr(Seq2SeeTrainer, "__init__", init)

    return arrange
