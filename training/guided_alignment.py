"""Guided alignment: one head of cross-attention learns to look at the words that a translation comes from.

To the loss is added, for each target token of a linked word, the cross-entropy between the head's row at the step that
predicts it and the links as a distribution over source tokens (Garg et al. 2019, "Jointly Learning to Align and
Translate with Transformer Models", equation 6; they too give one head to it):

    weight * sum over t of  - sum over s of  link[t, s] log a[t, s]

Links are storybook's own, or a file's.  Such a head shows what it was trained to show; it says nothing about how models
align without training.  The weights a are computed here from the head's own queries and keys, so that the fast
kernels, which write no weights down, stay in use.
"""

# B pairs, S source length, T target length, E size of one head, K linked (target token, source token) pairs

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seq2see.errors import UserError
from seq2see.settings_file import wrong
from ..text.word_links import Link, read_pharaoh
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..tokenizer.words import split_words
from .arguments import Seq2SeeTrainingArguments
from .config import RunConfig
from .pairs import Pair
from .trainer import Seq2SeeTrainer


def guides_of(pairs: Sequence[Pair], links: Sequence[Sequence[Link]], tokenizer: Seq2SeeTokenizer) -> list[np.ndarray]:
    """The links of the words of each pair as links of tokens; see `guide_of`."""
    if len(links) != len(pairs):
        raise UserError(f"{len(links)} lines of links, but {len(pairs)} training pairs: give one line for each pair")
    return [guide_of(pair, some, tokenizer, where=f"training pair {number}")
            for number, (pair, some) in enumerate(zip(pairs, links, strict=True), start=1)]


def guide_of(pair: Pair, links: Sequence[Link], tokenizer: Seq2SeeTokenizer, *, where: str = "") -> np.ndarray:
    """[K,3] float32: target token (as labels count them, the tag being 0), source token, weight.

    The words that a target word is linked to share its row equally, and the tokens of a word share alike.
    """
    if not links:
        return np.empty((0, 3), dtype=np.float32)
    sources, targets = (word_tokens(tokenizer, text, language) for text, language in pair.texts)
    linked: dict[int, list[int]] = {}
    for i, j in links:
        if i >= len(sources) or j >= len(targets):
            raise UserError(f"{where}: link {i}-{j}, but the source has {len(sources)} words and the target"
                            f" {len(targets)}: words are counted from 0, as seq2see splits them")
        if sources[i]:
            linked.setdefault(j, []).append(i)
    rows = [
        (t + 1, s, 1 / len(words) / len(sources[i]))  # +1: labels begin with the tag
        for j, words in linked.items() for t in targets[j] for i in words for s in sources[i]
    ]
    return np.array(rows, dtype=np.float32).reshape(-1, 3)


def word_tokens(tokenizer: Seq2SeeTokenizer, text: str, language: str) -> list[list[int]]:
    """Of each word, in order, its tokens: those that begin in it, or in the space before it."""
    words = split_words(text, language=language)
    ends = [word.end for word in words]
    found: list[list[int]] = [[] for _ in words]
    tokenizer.backend_tokenizer.encode_special_tokens = True  # as encode_source does: what a text spells is text
    for token, (start, _) in enumerate(tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).offsets):
        word = bisect_right(ends, start)
        if word < len(words):
            found[word].append(token)
    return found


class GuidedTrainer(Seq2SeeTrainer):
    """Seq2SeeTrainer with the loss of guided alignment added where a batch has links: not so in evaluation."""

    def __init__(self, model: Any, args: Seq2SeeTrainingArguments, **kwargs: Any):
        super().__init__(model, args, **kwargs)
        layers, heads = len(model.model.decoder.layers), model.config.decoder_attention_heads
        choices = (("guided_layer", args.guided_layer, layers), ("guided_head", args.guided_head, heads))
        for name, value, size in choices:
            if not -size <= value < size:
                raise UserError(f"training.{name} is {value}, expected a number from 0 to {size - 1}", exit_code=2)
        known = map(tuple, model.config.supervised_heads or [])  # of the model that it starts from
        made = (args.guided_layer % layers, args.guided_head % heads)
        model.config.supervised_heads = sorted(map(list, {made, *known}))

    def _loss_sum(self, model: nn.Module, inputs: dict[str, Any], **how: Any) -> tuple[Tensor, Tensor, Any]:
        inputs = dict(inputs)
        rows_K3, weight_K = inputs.pop("guide_rows", None), inputs.pop("guide_weights", None)
        attention = self.model.model.decoder.layers[self.args.guided_layer].encoder_attn
        with capture_queries_and_keys(attention) as seen:
            total, count, outputs = super()._loss_sum(model, inputs, **how)
        if rows_K3 is not None:
            log_weight_BTS = head_log_weights(
                seen["query"], seen["key"], inputs["attention_mask"], head=self.args.guided_head,
                size=attention.head_dim, scaling=attention.scaling,
            )
            total = total + self.args.guided_weight * guided_loss(log_weight_BTS, rows_K3, weight_K)
        return total, count, outputs


def guided_loss(log_weight_BTS: Tensor, rows_K3: Tensor, weight_K: Tensor) -> Tensor:
    """The cross-entropy between gold links and one head's attention: K links by pair, target and source position."""
    b, t, s = rows_K3.unbind(-1)
    return -(log_weight_BTS[b, t, s] * weight_K).sum()


@contextmanager
def capture_queries_and_keys(attention: nn.Module) -> Iterator[dict[str, Tensor]]:
    """The queries [B,T,D] and keys [B,S,D] of an attention's pass inside, by the names query and key."""
    seen: dict[str, Tensor] = {}
    with (
        attention.q_proj.register_forward_hook(lambda module, args, output: seen.update(query=output)),
        attention.k_proj.register_forward_hook(lambda module, args, output: seen.update(key=output)),
    ):
        yield seen


def head_log_weights(
    query_BTD: Tensor, key_BSD: Tensor, mask_BS: Tensor, *, head: int, size: int, scaling: float
) -> Tensor:
    """[B,T,S]: the logarithm of one head's weights."""
    heads = query_BTD.shape[-1] // size
    query_BTE, key_BSE = (x.unflatten(-1, (heads, size))[:, :, head].float() for x in (query_BTD, key_BSD))
    with torch.autocast(query_BTD.device.type, enabled=False):
        score_BTS = torch.bmm(query_BTE, key_BSE.transpose(1, 2)) * scaling
    hidden_B1S = mask_BS[:, None] == 0
    return score_BTS.masked_fill(hidden_B1S, torch.finfo(torch.float32).min).log_softmax(-1)


def training_links(config: RunConfig, arguments: Seq2SeeTrainingArguments, pairs: Sequence[Pair]) -> list[list[Link]]:
    """The links of each training pair, from `training.guided_links` or storybook itself.  UserError: there are none."""
    if arguments.guided_links:
        return [sorted(links.all) for links in read_pharaoh(arguments.guided_links)]
    if config.data.path != "storybook":
        raise wrong(f"training.guided_weight needs word links, but {config.data.path} has none: give"
                    " training.guided_links=FILE, a line of Pharaoh links (0-0 1-2) for each training pair in order")
    from ..storybook import generate

    known = {(pair.source, pair.target): list(pair.links) for pair in generate(seed=arguments.seed).train}
    return [known.get((pair.source, pair.target), []) for pair in pairs]
