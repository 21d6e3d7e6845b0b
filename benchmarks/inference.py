"""How fast is translation: `Translator` compared with MarianMTModel's `generate` and with bare CTranslate2.

    python benchmarks/inference.py RUN --text FILE         FILE: source sentences, one per line (optionally .gz)
    python benchmarks/inference.py RUN --recipe RUN2 ...   RUN2: the recommended recipe, against RUN
    python benchmarks/inference.py --quick                 storybook: a few sentences, one round
    python benchmarks/inference.py RUN --share             what our own work costs around CTranslate2
    python benchmarks/inference.py --shapes                models shaped as OPUS-MT and NLLB, with random weights

*greedy vs hf*, *beam vs hf*: the whole set, strings to strings, in int8; the peer is a MarianMTModel with the same
layers, widths, activation and vocabulary, in batches of 32 and 64 sentences sorted by length, with eager attention and
with sdpa; the fastest counts.  *latency vs hf*: one sentence at a time, greedy, the median sentence.  *ready tokens*:
strings to strings, compared with CTranslate2 from tokens to tokens.  *torch vs hf*: the torch engine, greedy.
*recipe*: another run compared with this one, as in *greedy vs hf* and *beam vs hf*.  *cold start*: from `python -c` to
the first translation, with an existing CTranslate2 export.

With `--share`: all processor seconds of a call of `Translator` less those of CTranslate2 from tokens to tokens with the
same settings, as a share of the former, in turns in one process; other load on the machine changes it little.

With `--shapes` the peers have the same model, `generate` in float32 and batches of 32; all translations have the same
length.  *vs generate*, *vs bare*: the whole set, greedy and with four beams.  *memory*: the peak of the process
of `generate`, compared with ours.

The peer of a RUN has random weights and is forced to end each sentence at the length of ours.  Every contender is a
separate process with one or two threads (CTranslate2: one per concurrent sentence); they take turns; medians count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from _frame import arguments, end, is_trained, sentences, show, timed, turns

ROUNDS = 5
SHARED = 3_000  # sentences
BEAMS = 4
BATCHES, ATTENTIONS = (32, 64), ("eager", "sdpa")  # of the peer: all are tried
SINGLES = 100  # sentences of the latency row
WANTED = {
    "greedy vs hf": (4.0, 5.0), "beam vs hf": (4.0, 5.0), "latency vs hf": (7.0, None), "ready tokens": (0.95, 0.95),
    "torch vs hf": (1.5, None), "recipe": (1.5, 1.5), "cold start": (1.0, None),
    "vs generate": (2.5, 2.5), "vs bare": (0.85, 0.85), "memory": (1.0, 1.0),
}
SHAPES = ("opus-mt", "nllb")
SHAPED = 64  # sentences for these
LENGTH = 24  # tokens of their translations

COLD = {
    "fast": """
import sys
from seq2see import Translator
print(Translator.from_pretrained(sys.argv[1], threads=1)(sys.argv[2], num_beams=1).text)
""",
    "marian": """
import sys, torch
torch.set_num_threads(1)
from transformers import MarianMTModel, PreTrainedTokenizerFast
model, tokenizer = MarianMTModel.from_pretrained(sys.argv[1]), PreTrainedTokenizerFast.from_pretrained(sys.argv[1])
ids = model.generate(**tokenizer(sys.argv[2], return_tensors="pt", return_token_type_ids=False), max_new_tokens=20)
print(tokenizer.decode(ids[0]))
""",
}


def main() -> None:
    parser = arguments(__doc__, run=True, text=True)
    parser.add_argument("--recipe", help="another run to compare with this one")
    parser.add_argument("--shapes", nargs="*", choices=SHAPES, help="random models of these shapes (all), not RUN")
    parser.add_argument("--share", action="store_true", help="only what our own work costs around CTranslate2")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        answer(json.loads(args.work))
        return
    rounds = 1 if args.quick else ROUNDS
    rows: list[dict[str, Any]] = []
    texts: list[str] = []
    if args.shapes is not None:
        texts = sentences(args.text)[: 4 if args.quick else SHAPED]
        for shape in args.shapes or SHAPES:
            with tempfile.TemporaryDirectory() as scratch:
                some = list(measure_shape(shape, Path(scratch) / shape, texts, rounds))
            show(some)  # the next may take long
            rows += some
    elif is_trained(args.run) and args.share:
        texts = sentences(args.text)[: 64 if args.quick else SHARED]
        show(rows := [own_share(args.run, texts, beams, rounds) for beams in (1, BEAMS)])
    elif is_trained(args.run):
        texts = sentences(args.text)[: 64 if args.quick else None]
        with tempfile.TemporaryDirectory() as scratch:
            marian = make_marian(args.run, Path(scratch) / "marian")
            for threads in (1, 2):
                rows += measure(args.run, marian, texts, threads, rounds, args.recipe)
            rows.append(cold_start({"fast": args.run, "marian": marian}, texts[0], rounds))
        show(rows)
    end("inference", rows, run=args.run, rounds=rounds, sentences=len(texts))


def own_share(run: str, texts: list[str], beams: int, rounds: int) -> dict[str, Any]:
    """What our own work costs with two threads, in per cent of all processor time."""
    contenders = {"ours": Ours(run, engine="ctranslate2", threads=2, texts=texts), "bare": Bare(run, 2, texts)}

    def work(name: str) -> float:
        start = time.process_time()
        contenders[name].all(beams=beams)
        return time.process_time() - start

    found = in_turn(list(contenders), rounds, work)
    ours, bare = statistics.median(found["ours"]), statistics.median(found["bare"])
    return {"name": "own share", "beams": beams, "ours": round(100 * (1 - bare / ours), 1), "unit": "% processor time",
            "ms a sentence": round(1000 * (ours - bare) / len(texts), 3), "wanted": 25}


def make_marian(run: str, folder: Path) -> str:
    """The folder of a MarianMTModel with the run's shape and vocabulary."""
    from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

    config = json.loads((Path(run) / "config.json").read_text("utf-8"))
    same = (
        "vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads",
        "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings",
        "activation_function", "scale_embedding",
    )
    ids = {"pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0, "forced_eos_token_id": None}
    MarianMTModel(MarianConfig(**{key: config[key] for key in same}, **ids)).save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{run}/tokenizer.json", pad_token="<pad>", eos_token="</s>")
    tokenizer.save_pretrained(folder)
    return str(folder)


def make_shape(shape: str, folder: Path, texts: Sequence[str], **smaller: int) -> str:
    """The folder of a random model of a published shape, with its family's tokenizer, learnt from the texts, and its
    export."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, M2M100Config, MarianConfig

    from seq2see.translate.ctranslate2_export import exported

    folder.mkdir()
    heads = {"encoder_layers": 6, "decoder_layers": 6, "scale_embedding": True, "max_position_embeddings": 512}
    if shape == "opus-mt":  # 74 million parameters
        size = learn_marian(texts, folder, size=58_101)
        config = MarianConfig(**{**heads, "vocab_size": size, "d_model": 512, "encoder_ffn_dim": 2048,
            "decoder_ffn_dim": 2048, "encoder_attention_heads": 8, "decoder_attention_heads": 8, "eos_token_id": 0,
            "pad_token_id": size - 1, "decoder_start_token_id": size - 1, "forced_eos_token_id": None,
            "activation_function": "swish", **smaller})
    else:  # 307 million parameters: those of NLLB-200 in a network of half its depth and vocabulary
        learn_nllb(texts, folder)
        config = M2M100Config(**{**heads, "vocab_size": 128_112, "d_model": 1024, "encoder_ffn_dim": 4096,
            "decoder_ffn_dim": 4096, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
            "activation_function": "relu", **smaller})
    torch.manual_seed(0)
    model = AutoModelForSeq2SeqLM.from_config(config)
    if shape == "opus-mt":
        model.get_input_embeddings().weight.data[config.pad_token_id] = 0
        model.generation_config.bad_words_ids = [[config.pad_token_id]]
    model.generation_config.suppress_tokens = [config.eos_token_id]  # all translations have the same length
    model.save_pretrained(folder)
    del model
    exported(folder, quantization="int8")
    return str(folder)


def learn_marian(texts: Sequence[str], folder: Path, *, size: int) -> int:
    """Write the files of a MarianTokenizer of `size` tokens; most of them occur in no text."""
    import sentencepiece

    for side in ("source", "target"):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([*texts]), model_prefix=str(folder / side), vocab_size=2_000, hard_vocab_limit=False,
            bos_id=-1, eos_id=-1, unk_id=0, minloglevel=2)
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
    learnt = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    tokens = ["</s>", "<unk>", *map(learnt.id_to_piece, range(1, len(learnt)))]
    tokens += [*(f"<unused{i}>" for i in range(size - len(tokens) - 1)), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}), "utf-8")
    (folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "fr"}', "utf-8")
    return size


def learn_nllb(texts: Sequence[str], folder: Path) -> None:
    """Write the tokenizer.json of an NllbTokenizer from English to French."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import NllbTokenizer

    learnt = Tokenizer(models.BPE())
    learnt.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    learnt.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2_000, special_tokens=special))
    core = json.loads(learnt.to_str())["model"]
    NllbTokenizer(vocab=core["vocab"], merges=[tuple(pair) for pair in core["merges"]], src_lang="eng_Latn",
                  tgt_lang="fra_Latn").save_pretrained(folder)


def measure_shape(shape: str, folder: Path, texts: list[str], rounds: int) -> Iterator[dict[str, Any]]:
    model = make_shape(shape, folder, texts)
    common = {"run": model, "threads": 2, "texts": texts, "longest": LENGTH}
    workers = {"ours": Worker(kind="ours", engine="ctranslate2", **common), "bare": Worker(kind="bare", **common),
               "generate": Worker(kind="generate", **common)}
    for beams in (1, BEAMS):
        found = in_turn(list(workers), rounds, lambda name, beams=beams: workers[name].ask("all", beams=beams))
        for peer in ("generate", "bare"):
            yield {"shape": shape, **row(f"vs {peer}", 2, beams, found["ours"], found[peer], len(texts))}
    ours, peer = (workers[name].ask("peak") for name in ("ours", "generate"))
    yield {"shape": shape, "name": "memory", "ours": round(ours, 2), "peer": round(peer, 2), "unit": "GB",
           "ratio": round(peer / ours, 2), "wanted": WANTED["memory"][1]}
    for worker in workers.values():
        worker.process.communicate()


class Worker:
    """A contender in a separate process, which works on request."""

    def __init__(self, **job: Any):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", json.dumps(job)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=os.environ | dict.fromkeys(("OMP_NUM_THREADS", "RAYON_NUM_THREADS"), str(job["threads"])),
        )

    def ask(self, what: str, **request: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([what, request]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def answer(job: dict[str, Any]) -> None:
    """The loop of a worker: one line in, one line out."""
    import torch

    torch.set_num_threads(job["threads"])
    contender = {"ours": Ours, "bare": Bare, "marian": Marian, "generate": Generate}[job.pop("kind")](**job)
    for line in sys.stdin:
        what, request = json.loads(line)
        print(json.dumps(getattr(contender, what)(**request)), flush=True)


def measure(
    run: str, marian: str, texts: list[str], threads: int, rounds: int, recipe: str | None
) -> Iterator[dict[str, Any]]:
    common = {"threads": threads, "texts": texts}
    workers = {"fast": Worker(kind="ours", run=run, engine="ctranslate2", **common),
               "bare": Worker(kind="bare", run=run, **common), "marian": Worker(kind="marian", run=marian, **common)}
    if threads == 1:
        workers["torch"] = Worker(kind="ours", run=run, engine="torch", **common)
    if recipe:
        workers["recipe"] = Worker(kind="ours", run=recipe, engine="ctranslate2", **common)
    for beams in (1, BEAMS):
        lengths = workers["fast"].ask("lengths", beams=beams)
        workers["marian"].ask("end_at", lengths=lengths)
        found = in_turn([name for name in workers if beams == 1 or name != "torch"], rounds,
                        lambda name, beams=beams: workers[name].ask("all", beams=beams))
        pairs = [("greedy vs hf" if beams == 1 else "beam vs hf", "fast", "marian"), ("ready tokens", "fast", "bare"),
                 ("torch vs hf", "torch", "marian"), ("recipe", "recipe", "fast")]
        for name, one, other in pairs:
            if one in found:
                yield row(name, threads, beams, found[one], found[other], len(texts))
        if beams == threads == 1:
            singly = in_turn(["fast", "marian"], rounds, lambda name: workers[name].ask("singles", count=SINGLES))
            yield row("latency vs hf", threads, beams, singly["fast"], singly["marian"], 1)
    for worker in workers.values():
        worker.process.communicate()


def in_turn(names: Sequence[str], rounds: int, seconds_of: Callable[[str], float]) -> dict[str, list[float]]:
    """Seconds of each contender, round by round; the first round warms up and does not count."""
    found: dict[str, list[float]] = {name: [] for name in names}
    for number, name in turns(names, rounds + 1):
        seconds = seconds_of(name)
        if number:
            found[name].append(seconds)
    return found


def row(
    name: str, threads: int, beams: int, ours: Sequence[float], peer: Sequence[float], count: int
) -> dict[str, Any]:
    a, b = statistics.median(ours), statistics.median(peer)
    return {"name": name, "threads": threads, "beams": beams, "ours": round(count / a, 1), "peer": round(count / b, 1),
            "unit": "sentences/s", "ratio": round(b / a, 2), "wanted": WANTED[name][threads - 1]}


def cold_start(runs: Mapping[str, str], text: str, rounds: int) -> dict[str, Any]:
    def start(name: str) -> float:
        command = [sys.executable, "-c", COLD[name], runs[name], text]
        return timed(lambda: subprocess.run(command, check=True, capture_output=True))

    found = in_turn(list(runs), rounds, start)
    measured = row("cold start", 1, 1, found["fast"], found["marian"], 1)
    seconds = {side: round(statistics.median(found[name]), 2) for side, name in (("ours", "fast"), ("peer", "marian"))}
    return measured | seconds | {"unit": "s"}


class Ours:
    def __init__(self, run: str, engine: Any, threads: int, texts: list[str], longest: int | None = None):
        from seq2see import Translator

        self.translator = Translator.from_pretrained(run, engine=engine, threads=threads)
        self.texts, self.longest = texts, longest

    def all(self, beams: int) -> float:
        return timed(lambda: self.translator(self.texts, num_beams=beams, max_new_tokens=self.longest))

    def peak(self) -> float:
        return peak()

    def lengths(self, beams: int) -> list[int]:
        return [len(one.hypotheses[0].token_ids) for one in self.translator(self.texts, num_beams=beams)]

    def singles(self, count: int) -> float:
        return statistics.median(timed(lambda text=text: self.translator(text, num_beams=1))
                                 for text in self.texts[:count])


class Bare:
    """CTranslate2 from tokens to tokens, with the same options."""

    def __init__(self, run: str, threads: int, texts: list[str], longest: int | None = None):
        from seq2see import Translator
        from seq2see.translate.ctranslate2_engine import BATCH_TOKENS
        from seq2see.translate.decoding import DecodingOptions

        ours = Translator.from_pretrained(run, engine="ctranslate2", threads=threads)
        engine: Any = ours.engine
        work = ours.prepare(texts, options=DecodingOptions(max_new_tokens=longest)).work
        self.translator, self.options = engine.translator, work[0][1]
        self.sources = [[engine.tokens[id] for id in ids] for ids, _ in work]
        self.prefix = [engine.tokens[id] for id in self.options.prefix]
        self.batch, self.never = BATCH_TOKENS, engine.never
        self.until = engine._until  # when beam search ends; the length penalty belongs to it

    def all(self, beams: int) -> float:
        return timed(lambda: [one.hypotheses for one in self.translator.translate_batch(
            self.sources, target_prefix=[self.prefix] * len(self.sources), beam_size=beams,
            **self.until(replace(self.options, num_beams=beams)), max_decoding_length=self.options.max_new_tokens,
            max_input_length=0, max_batch_size=self.batch, batch_type="tokens", return_scores=True,
            return_end_token=True, suppress_sequences=self.never,
        )])


class Marian:
    """transformers' own, on batches sorted by length."""

    def __init__(self, run: str, threads: int, texts: list[str]):
        from transformers import MarianMTModel, PreTrainedTokenizerFast

        self.model = MarianMTModel.from_pretrained(run).eval()
        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(run)
        self.texts = texts
        self.lengths: list[int] = []

    def end_at(self, lengths: list[int]) -> None:
        self.lengths = lengths

    def all(self, beams: int) -> float:
        return self.faster(lambda: min(
            timed(lambda size=size: self.translate(range(len(self.texts)), beams, size)) for size in BATCHES
        ))

    def singles(self, count: int) -> float:
        return self.faster(lambda: statistics.median(
            timed(lambda index=index: self.translate([index], 1, 1)) for index in range(min(count, len(self.texts)))
        ))

    def faster(self, work: Callable[[], float]) -> float:
        """Seconds of work with the faster attention."""
        found = []
        for attention in ATTENTIONS:
            self.model.set_attn_implementation(attention)
            found.append(work())
        return min(found)

    def translate(self, indices: Sequence[int], beams: int, size: int) -> list[str]:
        from transformers import LogitsProcessorList

        found: dict[int, str] = {}
        order = sorted(indices, key=lambda index: len(self.texts[index]))
        for begin in range(0, len(order), size):
            batch = order[begin : begin + size]
            inputs = self.tokenizer([self.texts[index] for index in batch], padding=True, return_tensors="pt",
                                    return_token_type_ids=False)
            lengths = [self.lengths[index] for index in batch]
            ids = self.model.generate(
                **inputs, num_beams=beams, do_sample=False, max_new_tokens=max(lengths) + 1,
                logits_processor=LogitsProcessorList([EndAt(lengths, beams)]),
            )
            found.update(zip(batch, self.tokenizer.batch_decode(ids, skip_special_tokens=True), strict=True))
        return [found[index] for index in indices]


class Generate:
    """`generate` with any model, in batches of 32 sentences sorted by length."""

    def __init__(self, run: str, threads: int, texts: list[str], longest: int):
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        self.model = AutoModelForSeq2SeqLM.from_pretrained(run).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(run)
        self.texts, self.longest = sorted(texts, key=len), longest

    def all(self, beams: int) -> float:
        return timed(lambda: self.translate(beams))

    def peak(self) -> float:
        return peak()

    def translate(self, beams: int) -> list[str]:
        found: list[str] = []
        language = getattr(self.tokenizer, "tgt_lang", None)
        first = self.tokenizer.convert_tokens_to_ids(language) if language else None
        for begin in range(0, len(self.texts), BATCHES[0]):
            inputs = self.tokenizer(self.texts[begin : begin + BATCHES[0]], padding=True, return_tensors="pt")
            ids = self.model.generate(**inputs, num_beams=beams, max_length=self.longest + 1, forced_bos_token_id=first)
            found += self.tokenizer.batch_decode(ids, skip_special_tokens=True)
        return found


def peak() -> float:
    """The most memory that this process has had, in GB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


class EndAt:
    """Ends each row at a given number of tokens."""

    def __init__(self, lengths: list[int], beams: int):
        import torch

        self.last_B = torch.tensor(lengths).repeat_interleave(beams) - 1

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        end, step = 2, input_ids.shape[1] - 1
        scores[:, end] = float("-inf")
        ending = self.last_B <= step
        scores[ending] = float("-inf")
        scores[ending, end] = 0
        return scores


if __name__ == "__main__":
    main()
