"""Looking inside one translation: `Trace`, the record, and `trace_hypotheses`, the one function that makes it.

A trace belongs to exactly one hypothesis.  The hypothesis is generated first, by whatever engine; then one
teacher-forced pass with eager attention reads every layer and head of all three kinds of attention at once.  That is
what generation itself attended to (a test holds it, greedy and beam), without the traps of collecting weights while
beams are being reordered.  Works on any transformers encoder-decoder.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.tokenizer.words import Piece, piece_spans

# B sentences, L layers, H heads, S source pieces, T decoder steps, V vocabulary

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TOP = 20  # how many candidates of each step a trace keeps
CELLS_AT_ONCE = 1_000_000  # cells of one head's three maps in one batch: bounds memory to some hundred megabytes


@dataclass(frozen=True)
class Candidate:
    """A piece that a step could have chosen, with its log-probability (natural logarithm)."""

    id: int
    text: str
    log_prob: float


@dataclass(frozen=True, eq=False)
class Trace:
    """Everything seen while one hypothesis was predicted.  T counts decoder steps: `</s>` and a language tag are steps.

    `source` holds the S source pieces; `target[t]` is the piece that step t predicts and `inputs[t]` the one it reads
    (the start, then what was predicted before).  Maps are float32, one dictionary a kind, keyed by view; so far the
    only view is "raw", the weights themselves, whose rows sum to 1:

        encoder [L,H,S,S]   row: the source piece being re-encoded        column: the source piece looked at
        decoder [L,H,T,T]   row: the step, named by what it predicts      column: `inputs`; later ones are masked
        cross   [L,H,T,S]   row: the step, named by what it predicts      column: the source piece looked at

    `log_probs` [T] and `top` (the best 20 of each step) are the model's own, before any rule of generation.  The first
    `given` pieces were handed to generation (a language tag), not chosen, and do not count in `log_prob`.  `score` is
    what the engine gave the hypothesis, in `precision`; the maps always come from the float32 weights.
    """

    source_text: str
    target_text: str
    source: tuple[Piece, ...]
    target: tuple[Piece, ...]
    inputs: tuple[Piece, ...]
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    encoder: dict[str, np.ndarray]
    decoder: dict[str, np.ndarray]
    cross: dict[str, np.ndarray]
    log_probs: np.ndarray
    top: tuple[tuple[Candidate, ...], ...]
    given: int = 0
    rows: Literal["predicts"] = "predicts"
    score: float | None = None
    engine: str = "torch"
    precision: str = "float32"
    model: str = ""

    def __post_init__(self) -> None:
        for array in (self.log_probs, *self.encoder.values(), *self.decoder.values(), *self.cross.values()):
            array.setflags(write=False)

    @property
    def log_prob(self) -> float:
        """Log-probability of the hypothesis under the float32 weights: the sum over the steps that had a choice."""
        return float(self.log_probs[self.given :].sum(dtype=np.float64))

    def maps(self, kind: Kind, view: str = "raw") -> np.ndarray:
        """The maps of one kind, [L,H,rows,columns]."""
        by_view = {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]
        return by_view[view]

    def row_pieces(self, kind: Kind, *, rows: Literal["predicts", "reads"] = "predicts") -> tuple[Piece, ...]:
        """What the rows of a kind are named by.  A step reads one piece and predicts the next; choose which to name."""
        if kind == "encoder":
            return self.source
        return self.target if rows == "predicts" else self.inputs

    def column_pieces(self, kind: Kind) -> tuple[Piece, ...]:
        return self.inputs if kind == "decoder" else self.source

    def save(self, path: str | Path) -> None:
        """Write the whole record as JSON; every float32 is written so that it reads back as the same float32."""
        Path(path).write_text(json.dumps(self.to_json(), ensure_ascii=False), encoding="utf-8")

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = {"format": "seq2see-trace", "version": 1}
        for name, value in vars(self).items():
            if name in KINDS:
                record[name] = {view: _exact(array) for view, array in value.items()}
            elif name in ("source", "target", "inputs"):
                record[name] = [asdict(piece) for piece in value]
            elif name == "top":
                record[name] = [[asdict(candidate) for candidate in step] for step in value]
            else:
                record[name] = _exact(value) if isinstance(value, np.ndarray) else value
        return record

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote; UserError if the file is anything else."""
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            if record.pop("format") != "seq2see-trace" or record.pop("version") != 1:
                raise ValueError("it has another format or version")
            for kind in KINDS:
                record[kind] = {view: np.array(rows, dtype=np.float32) for view, rows in record[kind].items()}
            for name in ("source", "target", "inputs"):
                record[name] = tuple(Piece(**piece) for piece in record[name])
            for name in ("source_ids", "target_ids"):
                record[name] = tuple(record[name])
            record["top"] = tuple(tuple(Candidate(**candidate) for candidate in step) for step in record["top"])
            record["log_probs"] = np.array(record["log_probs"], dtype=np.float32)
            return cls(**record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path} is not a trace saved by Seq2See ({error}); write one with Trace.save") from error

    def _repr_html_(self) -> str:
        from seq2see.lens.show import to_iframe

        return to_iframe(self)


def encode_source(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """Source text to ids, `</s>` included.  Special tokens typed by a user are plain text."""
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.encode_source(text)
    return tokenizer(text, split_special_tokens=True)["input_ids"]


def decode_target(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """Target ids to text, without tags and special tokens."""
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.decode_text(ids)
    return tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)


def trace_hypotheses(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    sources: Sequence[str],
    target_ids: Sequence[Sequence[int]],
    *,
    source_language: str = "",
    target_language: str = "",
    given: int = 0,
    scores: Sequence[float | None] | None = None,
    engine: str = "torch",
    precision: str = "float32",
    model_name: str = "",
) -> list[Trace]:
    """Trace one hypothesis of each source.  `target_ids` are the predicted ids: the tag if there is one, ..., `</s>`.

    The model is left as found: attention implementation, train or eval mode, also when this raises.  It must hold
    float32 weights (ValueError otherwise), so that a map is never a rounding of what it claims to be.
    """
    if model.dtype != torch.float32:
        raise ValueError(f"expected a model of float32 weights, got {model.dtype}: call model.float() first")
    if len(sources) != len(target_ids) or not all(target_ids):
        raise ValueError(f"expected a non-empty target a source: {len(sources)} sources, {len(target_ids)} targets")
    source_ids = [encode_source(tokenizer, text) for text in sources]
    start = _decoder_start(model)
    traces = []
    with _looking(model):
        for batch in _batches(source_ids, target_ids):
            seen = _read([source_ids[i] for i in batch], [target_ids[i] for i in batch], start=start, model=model)
            for i, (maps, log_probs, top) in zip(batch, seen, strict=True):
                target_text = decode_target(tokenizer, target_ids[i])
                target = piece_spans(tokenizer, list(target_ids[i]), target_text, language=target_language)
                candidates = tuple(
                    tuple(Candidate(id, _piece_text(tokenizer, id), float(value)) for value, id in step) for step in top
                )
                traces.append(Trace(
                    source_text=sources[i],
                    target_text=target_text,
                    source=tuple(piece_spans(tokenizer, source_ids[i], sources[i], language=source_language)),
                    target=tuple(target),
                    inputs=(Piece(_piece_text(tokenizer, start), None, 0, 0, True), *target[:-1]),
                    source_ids=tuple(source_ids[i]),
                    target_ids=tuple(target_ids[i]),
                    encoder={"raw": maps["encoder"]},
                    decoder={"raw": maps["decoder"]},
                    cross={"raw": maps["cross"]},
                    log_probs=log_probs,
                    top=candidates,
                    given=min(given, len(target)),
                    score=None if scores is None else scores[i],
                    engine=engine,
                    precision=precision,
                    model=model_name,
                ))
    return traces


@torch.no_grad()
def _read(sources: list[list[int]], targets: list[Sequence[int]], *, start: int, model: PreTrainedModel) -> Iterator:
    """One pass over a batch.  Yields for each sentence, padding cropped: maps by kind, log_probs [T], candidates."""
    device = model.device
    lengths = [(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
    longest_S, longest_T = (max(side) for side in zip(*lengths, strict=True))
    input_ids_BS = torch.zeros(len(sources), longest_S, dtype=torch.long)
    mask_BS = torch.zeros_like(input_ids_BS)
    target_BT = torch.zeros(len(targets), longest_T, dtype=torch.long)
    for b, (source, target) in enumerate(zip(sources, targets, strict=True)):
        input_ids_BS[b, : len(source)] = torch.tensor(source)
        mask_BS[b, : len(source)] = 1
        target_BT[b, : len(target)] = torch.tensor(target)
    decoder_BT = torch.cat([torch.full((len(targets), 1), start), target_BT[:, :-1]], dim=1)
    with torch.autocast(device.type, enabled=False):
        output = model(
            input_ids=input_ids_BS.to(device),
            attention_mask=mask_BS.to(device),
            decoder_input_ids=decoder_BT.to(device),
            output_attentions=True,
            use_cache=False,
            return_dict=True,
        )
    if not output.cross_attentions:
        raise UserError(f"{type(model).__name__} gives no attention weights, so there is nothing to look at")
    log_probs_BTV = output.logits.float().log_softmax(-1)
    chosen_BT = log_probs_BTV.gather(-1, target_BT.to(device)[..., None])[..., 0]
    best, best_ids = log_probs_BTV.topk(min(TOP, log_probs_BTV.shape[-1]), dim=-1)
    for b, (S, T) in enumerate(lengths):
        maps = {
            "encoder": _stack(output.encoder_attentions, b, S, S),
            "decoder": _stack(output.decoder_attentions, b, T, T),
            "cross": _stack(output.cross_attentions, b, T, S),
        }
        pairs = zip(best[b, :T].tolist(), best_ids[b, :T].tolist(), strict=True)
        yield maps, chosen_BT[b, :T].cpu().numpy().copy(), [list(zip(*step, strict=True)) for step in pairs]


def _stack(layers: Sequence[torch.Tensor], b: int, rows: int, columns: int) -> np.ndarray:
    """Sentence b of each layer's [B,H,*,*], cropped of padding: [L,H,rows,columns]."""
    return torch.stack([layer[b, :, :rows, :columns] for layer in layers]).float().cpu().numpy()


@contextmanager
def _looking(model: PreTrainedModel) -> Iterator[None]:
    """Eager attention and eval mode inside; every submodule and its config as found outside."""
    training = {module: module.training for module in model.modules()}
    configs = [module.config for module in model.modules() if isinstance(module, PreTrainedModel)]
    found = [config._attn_implementation for config in configs]
    try:
        model.eval()
        model.set_attn_implementation("eager")
        yield
    finally:
        for config, implementation in zip(configs, found, strict=True):
            config._attn_implementation = implementation
        for module, mode in training.items():
            module.training = mode


def _batches(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Consecutive sentences, as many at once as keep one head's maps under CELLS_AT_ONCE."""
    batch: list[int] = []
    longest = 0
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        longest = max(longest, len(source), len(target))
        if batch and 3 * longest * longest * (len(batch) + 1) > CELLS_AT_ONCE:
            yield batch
            batch, longest = [], max(len(source), len(target))
        batch.append(i)
    if batch:
        yield batch


def _decoder_start(model: PreTrainedModel) -> int:
    """The id that generation starts the decoder with."""
    generation = model.generation_config
    start = generation.decoder_start_token_id
    start = start if start is not None else generation.bos_token_id
    if start is None:
        raise UserError("the checkpoint's generation_config.json has no decoder_start_token_id; add it")
    return start


def _piece_text(tokenizer: PreTrainedTokenizerBase, id: int) -> str:
    """A piece as the vocabulary has it; ids beyond the vocabulary (padded embeddings) by number."""
    return tokenizer.convert_ids_to_tokens(id) or f"<{id}>"


def _exact(array: np.ndarray) -> Any:
    """Nested lists whose numbers print in at most nine digits and read back as the same float32."""
    if array.ndim == 1:
        return [float(f"{value:.9g}") for value in array.tolist()]
    return [_exact(row) for row in array]
