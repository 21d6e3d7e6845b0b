"""The model card: README.md of a finished run, with the front matter that the Hub reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from seq2see import __version__
from .before import wording_of
from .config import RunConfig, notes_on
from .evaluation import wording
from .progress import duration

EXAMPLE_COUNT = 8

CARD = """\
{front}
# {name}

{what} from {source} to {targets}, {made} with Seq2See. The model is an encoder-decoder Transformer
with {millions:.1f} M parameters. Seq2See shows the attention of the model while it translates.

## Use
{use}{examples}
## Scores
{scores}
These are the scores of this one model. If you train again, the scores differ.{pipeline} sacreBLEU signatures:
{signatures}

## Training
{started}| training pairs | steps | epochs | time (h:mm:ss) |
| --- | --- | --- | --- |
| {pairs:,} from `{data}` | {steps:,} | {epochs} | {time} |

`run.yaml` has all settings, and `metrics.json` has all figures. Energy use was not measured.
{before}{released}{guided}
![Loss and validation BLEU over the steps of the training](curve.png)

{notes}

## Citation
```bibtex
@software{{seq2see,
  title = {{Seq2See: a translation model you can see through}},
  author = {{{{The Seq2See authors}}}},
  version = {{{version}}},
  license = {{Apache-2.0}}
}}
```
"""

EXAMPLES = """
These example translations are unedited. Common sentences like these can also be in the training data.

{table}"""

WITH_TRANSFORMERS = """\
With transformers, without Seq2See{code}:
```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({folder!r}{trust})
model = AutoModelForSeq2SeqLM.from_pretrained({folder!r}{trust})
output = model.generate(**tokenizer("{example}", return_tensors="pt"))
print(tokenizer.decode(output[0], skip_special_tokens=True))
```
"""

WITH_SEQ2SEE = """\
With Seq2See, where `trace` has the attention of every head for this translation:
```python
from seq2see import Translator

translator = Translator.from_pretrained({folder!r})
result = translator("{example}", target="{target}")
trace, = translator.look(result)
```
"""

LIMITS = """\
## Intended use
- Translating short sentences like the training data.
- Seeing how an encoder-decoder model works by looking inside.

## Limits
The model was trained on short sentences of one kind. It translates other kinds of text badly. It also mistranslates
words that are not in `seen_words.json`.
"""

LIMITS_OF_FOREIGN = """\
## Intended use
- Translating texts like the fine-tuning data.
- Seeing how an encoder-decoder model works by looking inside.

## Limits
The limits and the licence of the original model apply too: see its model card. This model may translate other kinds of
text worse than the original model does.
"""

STARTED = """\
This section describes the last training only. That training started from a model that had already been trained.

"""

RELEASED = """
The weights were released with commit {commit}. The seed of the training is {seed}. The weights are stored in float16
and loaded in float32. Scores and measurements were made with the weights before rounding to float16. Rounding changes
the log-probability of each translation in `examples.json` by at most {rounding:.4f}.
"""

GUIDED = """
Supervised cross-attention heads (layer.head): {heads}. These heads were trained with gold word links (guided
alignment), so their maps show what the heads were trained to show. The maps are not evidence about other heads.
"""


def packaged_card(config: RunConfig, metrics: Mapping[str, Any], *, name: str, sentences: Sequence[str],
                  translations: Mapping[str, Sequence[str]], supervised: Sequence[Sequence[int]] = ()) -> str:
    """The card's text, of a model that comes with the package, with example translations by language pair."""
    names = [languages.replace("-", " to ") for languages in translations]
    table = _table(["sentence", *names], list(zip(sentences, *translations.values(), strict=True))[:EXAMPLE_COUNT])
    return model_card(config, metrics, folder=Path(name), use=WITH_SEQ2SEE, supervised=supervised,
                      examples=EXAMPLES.format(table=table), released=RELEASED.format(**metrics["release"]))


def model_card(config: RunConfig, metrics: Mapping[str, Any], *, folder: Path, supervised: Sequence[Sequence[int]] = (),
               ours: bool = True, base: str | None = None, use: str = WITH_TRANSFORMERS + WITH_SEQ2SEE,
               examples: str = "", released: str = "") -> str:
    """The card's text, of the run in that folder, with what is written of a packaged recipe in `configs/NAME.md`.

    `supervised` are the heads [layer, head] that were trained with gold links, by this run or the one that it started
    from; `ours`: a Seq2See model; `base`: what it was fine-tuned from.  The licence
    is left to whoever publishes the model.
    """
    name = folder.resolve().name
    training, evaluation, data = metrics["training"], metrics["evaluation"], config.data
    front = {
        "language": [data.source, *data.targets], "pipeline_tag": "translation", "library_name": "transformers",
        "tags": ["seq2see"], "metrics": ["bleu", "chrf"], **({"base_model": base} if base else {}),
    }
    scores = [[f"{split} ({row['pairs']})", row["bleu"], row["chrf"], f"{row['exact_match']} %"]
              for split, row in evaluation.items()]
    row = next(iter(evaluation.values()))
    return CARD.format(
        front=f"---\n{yaml.safe_dump(front, sort_keys=False)}---",
        name=name,
        what="A translation model" if base else "A small translation model",
        made=f"fine-tuned from `{base}`" if base else "trained",
        started=STARTED if config.model.init_from else "",
        before="".join(f"\n{line[:1].upper()}{line[1:]}.\n" for line in wording_of(metrics.get("before", {}))),
        use=use.format(folder=str(folder), trust=", trust_remote_code=True" if ours else "",
                       code=" (the model's code comes with it)" if ours else "",
                       example="The cat sleeps." if data.source == "en" else "...", target=data.targets[0]),
        source=data.source,
        targets=", ".join(data.targets),
        millions=training["parameters"] / 1e6,
        pipeline=f" The test sentences were {wording(row)}." if "pipeline" in row else "",  # earlier runs lack it
        scores=_table(["pairs", "BLEU", "chrF2", "exact match"], scores),
        signatures=f"`{row['bleu_signature']}`, `{row['chrf_signature']}`",
        data=data.path,
        guided=GUIDED.format(heads=", ".join(f"{layer}.{head}" for layer, head in supervised)) if supervised else "",
        notes=(notes_on(name) or notes_on(config.name) or (LIMITS if ours else LIMITS_OF_FOREIGN)).rstrip(),
        version=__version__,
        examples=examples,
        released=released,
        time=duration(training["seconds"]),
        **{key: training[key] for key in ("pairs", "steps", "epochs")},
    )


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
