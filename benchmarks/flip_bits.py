"""Damage a checkpoint in thousands of ways, and check that each is refused in one line or harmless.

    python benchmarks/flip_bits.py                        # 2,000 flips and 500 truncations of a tiny model, each way
    python benchmarks/flip_bits.py --run runs/storybook   # of a trained one (a copy of it)
    python benchmarks/flip_bits.py --quick                # 40 flips and 20 cuts

A random bit of one file is flipped, or one file is truncated, with a fixed seed; then `Translator` opens the folder,
with torch or with the CTranslate2 export, and translates a sentence.  With the manifest every damage to a listed file
must be refused, naming the file.  Without it, as in other people's folders, the folder must be refused in one line or
translate (an export always has a manifest, or it is made again).  A worker that is killed, hangs for a minute or raises
anything else is a fault.
"""

import collections
import json
import math
import multiprocessing
import random
import shutil
import sys
import tempfile
from pathlib import Path

from _frame import arguments, end, show

TEXT = "The cat did not cross the street because it was too tired."
PATIENCE = 60  # seconds for one attempt
FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "seen_words.json",
         "model.safetensors", "manifest.json")  # fmt: skip


def damages(folder: Path, *, export: bool, flips: int, cuts: int, seed: int) -> list[tuple[str, str, int]]:
    """(file, "flip" or "cut", place): all files equally often, a third of the places in the first kilobyte, where
    headers are.  Includes the files of the export if it is used."""
    dice = random.Random(seed)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if name in FILES or (export and "ctranslate2" in name)]
    made = []
    for number in range(flips + cuts):
        name = names[number % len(names)]
        size = (folder / name).stat().st_size
        at = dice.randrange(min(size, 1024) if dice.random() < 1 / 3 else size)
        made.append((name, "flip", 8 * at + dice.randrange(8)) if number < flips else (name, "cut", at))
    return made


def spoil(path: Path, how: str, place: int) -> None:
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[place // 8] ^= 1 << place % 8
    else:
        del data[place:]
    path.write_bytes(data)


def attempt(folder: Path, engine: str) -> str:
    """The outcome of opening a folder and translating: a line that begins with ok, refused or FAULT."""
    from seq2see import Translator
    from seq2see.errors import UserError

    try:
        translator = Translator.from_pretrained(folder, engine=engine, threads=1)
        result = translator(TEXT, num_beams=1, max_new_tokens=8)
    except UserError as error:
        line = str(error)
        return f"refused {line}" if "\n" not in line and len(line) < 1_000 else f"FAULT a long message: {line[:200]}"
    except BaseException as error:
        return f"FAULT {type(error).__name__}: {str(error)[:200]}"
    score = result.hypotheses[0].score if result.hypotheses else 0.0
    return "ok" if math.isfinite(score) else "FAULT the score is not a number"


def work(pipe, engine: str) -> None:
    """A worker: receives folders, sends outcomes."""
    sys.stderr = open("/dev/null", "w")  # noqa: SIM115  (panics print)
    while True:
        pipe.send(attempt(pipe.recv(), engine))


class Worker:
    """A process that may die and is then replaced."""

    def __init__(self, engine: str):
        self.engine = engine
        self.start()

    def start(self) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=work, args=(theirs, self.engine), daemon=True
        )
        self.process.start()
        theirs.close()

    def try_folder(self, folder: Path) -> str:
        self.pipe.send(folder)
        try:
            if self.pipe.poll(PATIENCE):
                return str(self.pipe.recv())
            said = f"FAULT nothing for {PATIENCE} s"
        except (EOFError, OSError):
            said = "FAULT the process died"
        self.process.kill()
        self.process.join()
        self.start()
        return said


def run(whole: Path, *, engine: str, manifest: bool, flips: int, cuts: int, seed: int) -> dict[str, int]:
    """Damage copies of a folder one by one; returns the counts of outcomes, and prints faults."""
    counts: collections.Counter[str] = collections.Counter()
    worker = Worker(engine)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(whole, Path(scratch) / "copy"))
        if not manifest:
            (copy / "manifest.json").unlink()
        for name, how, place in damages(copy, export=engine == "ctranslate2", flips=flips, cuts=cuts, seed=seed):
            path = copy / name
            before = path.read_bytes()
            spoil(path, how, place)
            said = worker.try_folder(copy)
            path.write_bytes(before)
            if manifest and (said == "ok" or Path(name).name not in said):
                said = f"FAULT not refused by name: {said}"
            counts[said.partition(" ")[0]] += 1
            if said.startswith("FAULT"):
                print(f"{engine}, {how} of {name} at {place}: {said}", flush=True)
    worker.process.kill()
    return dict(counts)


def tiny_run(folder: Path) -> Path:
    """A tiny random model as a finished run, with its manifest."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    import tiny

    from seq2see.manifest import write_manifest

    tiny.save(folder, *tiny.make("seq2see"))
    (folder / "seen_words.json").write_text(json.dumps({"en": ["the", "cat"]}), encoding="utf-8")
    write_manifest(folder)
    return folder


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--run", help="a run's folder (a tiny random model)")
    parser.add_argument("--flips", type=int, default=2_000)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    flips, cuts = (40, 20) if args.quick else (args.flips, args.cuts)
    import torch

    from seq2see.manifest import write_manifest
    from seq2see.translate.export import exported

    torch.set_num_threads(1)  # the workers are forked: a child would wait for its parent's threads forever
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "run"
        if args.run:
            shutil.copytree(args.run, whole, ignore=shutil.ignore_patterns("checkpoint-*", "ctranslate2-*"))
            write_manifest(whole)
        else:
            tiny_run(whole)
        exported(whole, quantization="int8")
        for engine in ("torch", "ctranslate2"):
            for manifest in (True, False):
                counts = run(whole, engine=engine, manifest=manifest, flips=flips, cuts=cuts, seed=args.seed)
                rows.append({"name": f"{engine}, {'with' if manifest else 'without'} manifest", "FAULT": 0, **counts})
                show(rows[-1:])
    end("flip_bits", rows)
    sys.exit(any(row["FAULT"] for row in rows))


if __name__ == "__main__":
    main()
