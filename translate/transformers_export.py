"""A checkpoint that transformers loads with its own classes: `seq2see export RUN --format transformers`.

The network is a Pegasus (Zhang et al. 2020) except for the sinusoids.  Ours alternate sine and cosine of each
frequency, as in Vaswani et al. 2017; Pegasus puts all sines first.  Nothing else depends on the order of dimensions in
the residual stream.  So the D rows or columns of every weight that reads or writes the stream are permuted to Pegasus'
order.  The inside of heads and feed-forward layers stays the same.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from seq2see.json_files import read_json
from seq2see.manifest import write_manifest
from .loaded_checkpoint import LoadedCheckpoint

if TYPE_CHECKING:
    import torch
    from transformers import PegasusForConditionalGeneration, PreTrainedModel, PreTrainedTokenizerBase

CARD = """\
---
language: {languages}
pipeline_tag: translation
library_name: transformers
---
# {name}

A translation model of {millions:.1f} M parameters, trained with Seq2See. Its architecture is Pegasus in
transformers, so it needs no other code:
```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({folder!r})
model = AutoModelForSeq2SeqLM.from_pretrained({folder!r})
output = model.generate(**tokenizer("{example}", return_tensors="pt"))
print(tokenizer.decode(output[0], skip_special_tokens=True))
```
{tags}- Pad on the right, as the tokenizer does.
- A text has at most {longest} tokens; `truncation=True` cuts off the rest.
- A special token in a text is read as such; with `split_special_tokens=True` it is plain text.
- Leave out blank texts: the model would hallucinate.
"""

TAGS = """\
- A translation begins with the tag of its language: {tags}. `generation_config.json` has the default;
  `model.generate(..., forced_bos_token_id=tokenizer.convert_tokens_to_ids("{tag}"))` chooses another.
- Labels begin with it too: `tokenizer(source, text_target="{tag}" + target)`.
"""


def write(run: Path, folder: Path) -> None:
    """Convert the checkpoint into `folder`, which appears once it is complete.

    Raises UserError for another type of model.
    """
    checkpoint = LoadedCheckpoint(str(run), run)
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    kind = model.config.model_type
    if kind != "seq2see":
        raise UserError(f"{run} is a {kind} model, not a seq2see model: transformers loads it without export")
    with tempfile.TemporaryDirectory(prefix=".transformers-", dir=folder.parent) as scratch:
        made = Path(scratch) / "model"
        as_pegasus(model).save_pretrained(made)
        save_tokenizer(tokenizer, made, longest=model.config.max_position_embeddings)
        name_target(made / "tokenizer_config.json", model.config.language_pairs or ())
        (made / "README.md").write_text(model_card(model, name=run.resolve().name, folder=folder), "utf-8")
        write_manifest(made)
        made.rename(folder)


def as_pegasus(model: PreTrainedModel) -> PegasusForConditionalGeneration:
    """The same network in a transformers class: the same logits, so the same translations."""
    with IMPORTS:
        from transformers import PegasusConfig, PegasusForConditionalGeneration

        from ..modeling import Seq2SeeConfig

    options = {name: getattr(model.config, name) for name in Seq2SeeConfig.__annotations__}
    pegasus = PegasusForConditionalGeneration(PegasusConfig(**options, forced_eos_token_id=None))
    order = [*range(0, model.config.d_model, 2), *range(1, model.config.d_model, 2)]
    ours = {name: reordered(name, weight, order) for name, weight in model.state_dict().items()}
    pegasus.load_state_dict(pegasus.state_dict() | ours)
    pegasus.generation_config = model.generation_config
    return pegasus


def reordered(name: str, weight: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """A weight with the dimensions of the residual stream permuted to this order."""
    layer, kind = name.split(".")[-2:]
    if layer in ("out_proj", "fc2") or layer.endswith("norm"):  # they write to the stream, or scale it
        return weight[order]
    return weight[..., order] if kind == "weight" else weight  # they read it; their biases are not on the stream


def save_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: Path, *, longest: int) -> None:
    """Save it under a class name that transformers 4 also knows, and without `token_type_ids`, which it would add."""
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = read_json(path) | {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": longest,
    }
    path.write_text(json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def name_target(path: Path, pairs: Sequence[Sequence[str]]) -> None:
    """Name the default target language, so that `tagging.first_ids` finds the tags again."""
    settings = read_json(path)
    if pairs and not settings.get("tgt_lang"):
        path.write_text(json.dumps(settings | {"tgt_lang": pairs[0][1]}, indent=2, sort_keys=True,
                                   ensure_ascii=False) + "\n", "utf-8")


def model_card(model: PreTrainedModel, *, name: str, folder: Path) -> str:
    """The README of the folder: how to load the model, and its pitfalls."""
    pairs = model.config.language_pairs or []
    languages = dict.fromkeys(language for pair in pairs for language in pair)
    tags = [f"<2{target}>" for target in dict.fromkeys(target for _, target in pairs)]
    return CARD.format(
        languages=json.dumps([*languages]),
        name=name,
        millions=model.num_parameters() / 1e6,
        folder=str(folder),
        example="The cat sleeps." if "en" in [source for source, _ in pairs] else "...",
        tags=TAGS.format(tags=", ".join(f"`{tag}`" for tag in tags), tag=tags[-1]) if tags else "",
        longest=model.config.max_position_embeddings,
    )
