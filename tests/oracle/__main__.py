"""Shows that a change of the code changed no behaviour: `python tests/oracle [--baseline REV] [--run RUN]`.

The tree of the baseline revision and the present one each train, translate and look inside, on this machine and with
this Python, through public names (one file a section), and the records are compared: weights, translations, traces.
What is said on the way is for the tests.  The baseline's records are kept in $XDG_CACHE_HOME/seq2see-oracle.
Differences that are meant stand in differences.yaml; any other is printed and makes the exit code 1.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from comparing import compare, read_meant
from side import as_named
from trainings import SMALL, TABLE

BASELINE = "6d18768c53f23b6f6ea1ca34f88cf29dc6bec3b0"  # before what nobody would miss was taken out
SECTIONS = ("trainings", "earlier", "translations", "traces")  # the longest first
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seq2see-oracle"
SHOWN = 3  # differences of a section
NOT_COPIED = shutil.ignore_patterns("checkpoint-*", "ctranslate2-*", ".lock")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baseline", default=BASELINE, metavar="REV", help="what to compare with")
    parser.add_argument("--run", type=Path, help="a trained model (default: one that the baseline trains, once)")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="this section alone; may be repeated")
    args = parser.parse_args()
    sections = tuple(name for name in SECTIONS if not args.only or name in args.only)
    baseline = checked_out(args.baseline)
    run = args.run or trained_once(baseline)
    kept = CACHE / "records" / f"{baseline.name[:12]}-{signature(run)}"
    made = get_made(baseline, run, kept)
    missing = tuple(name for name in sections if not (kept / f"{name}.pickle").exists())
    if record(baseline, run, made, kept, missing):
        return 1
    with tempfile.TemporaryDirectory() as present:
        failed = record(ROOT, run, made, Path(present), sections)
        return report(sections, kept, Path(present), whole=not args.only) or failed


def checked_out(revision: str) -> Path:
    """The files of a revision, in a folder of their own."""
    commit = git("rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
    folder = CACHE / "trees" / commit
    if not folder.exists():
        partial = Path(tempfile.mkdtemp(dir=ensured(folder.parent)))
        with tarfile.open(fileobj=BytesIO(git("archive", commit))) as archive:
            archive.extractall(partial, filter="data")
        partial.rename(folder)
    return folder


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


def signature(run: Path) -> str:
    """What records depend on besides the tree: the recorder, the model, the Python and how many cores it has."""
    files = [*sorted(HERE.glob("*.py")), *sorted(HERE.glob("*.t*")), run / "model.safetensors", run / "tokenizer.json"]
    own = {"__main__.py", "comparing.py"}
    content = b"".join(file.read_bytes() for file in files if file.name not in own)
    machine = f"{sys.version} {len(os.sched_getaffinity(0))} {run.name}"
    return hashlib.sha256(content + machine.encode()).hexdigest()[:12]


def trained_once(baseline: Path) -> Path:
    """A small storybook model of the baseline's."""
    run = CACHE / "models" / baseline.name[:12] / "run"
    if not run.exists():
        partial = run.with_name("partial")
        shutil.rmtree(partial, ignore_errors=True)
        settings = ("training.num_train_epochs=4", f"training.output_dir={partial / 'run'}")
        seq2see(baseline, ensured(partial), "train", "storybook", *settings)
        (partial / "run").rename(run)
    return run


def get_made(baseline: Path, run: Path, kept: Path) -> Path:
    """What the baseline writes for both sides to read: a training that can go on, an export, the pairs."""
    made = kept / "made"
    if not (made / "exported").exists():  # the last of it
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(run, made / "run", ignore=NOT_COPIED)
        shutil.copy(HERE / "pairs.tsv", made)
        seq2see(baseline, made, "train", "multi30k-en-fr", f"data.path={made / 'pairs.tsv'}", *SMALL, *TABLE,
                "training.max_steps=20", f"training.output_dir={made / 'stopped'}")
        seq2see(baseline, made, "export", "run", "--out", "exported")
    return made


def seq2see(tree: Path, folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "seq2see", *as_named(tree, arguments)]
    subprocess.run(command, cwd=folder, env=variables(tree, folder), check=True, stdout=subprocess.DEVNULL)


def variables(tree: Path, scratch: Path) -> dict[str, str]:
    """One thread, no network, nothing of the caller's own: caches lie in the scratch folder."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("SEQ2SEE_", "PYTHON", "HF_"))}
    return own | {
        "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "COLUMNS": "110",
        "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
        "GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_TEMP_DIR": str(scratch / "gradio"), "HF_HOME": str(scratch / "hf"),
        "XDG_CACHE_HOME": str(scratch / "cache"), "MPLCONFIGDIR": str(ensured(CACHE / "matplotlib")),
    }  # fmt: skip


def record(tree: Path, run: Path, made: Path, records: Path, sections: tuple[str, ...]) -> bool:
    """Have a tree observed, two sections at a time; whether one could not be."""
    def child(section: str) -> bool:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="oracle-") as scratch:
            own = Path(scratch).resolve()
            shutil.copytree(run, own / "run", ignore=NOT_COPIED)
            part = records / f"{section}.part"
            places = map(str, (tree, own / "run", made, part))
            done = subprocess.run([sys.executable, str(HERE / "record.py"), section, *places], cwd=own,
                                  env=variables(tree, own), capture_output=True, text=True)
        if done.returncode == 0:
            part.rename(records / f"{section}.pickle")
        print(f"{tree.name[:12]}: {section} in {time.monotonic() - start:.0f} s"
              + (f" FAILED\n{done.stderr[-2000:]}" if done.returncode else ""), flush=True)
        return done.returncode != 0

    with ThreadPoolExecutor(2) as pool:
        return any(list(pool.map(child, sections)))


def report(sections: tuple[str, ...], before: Path, now: Path, *, whole: bool) -> bool:
    """Print the table and the first differences of each section; whether one is not meant."""
    meant, lines, unmeant = read_meant(), [], []
    used: set[str] = set()
    for section in sections:
        count, found = compare(section, before / f"{section}.pickle", now / f"{section}.pickle", list(meant))
        new = [one for one in found if one.meant is None]
        used |= {one.meant for one in found if one.meant}
        unmeant += new
        lines += [f"{section:14}{count:9,}{count - len(found):9,}{len(found) - len(new):9,}{len(new):11,}"]
        lines += [f"  {one.key}\n    before: {one.before}\n    now:    {one.now}" for one in new[:SHOWN]]
    print(f"\n{'section':14}{'records':>9}{'equal':>9}{'meant':>9}{'different':>11}", *lines, sep="\n")
    stale = [pattern for pattern in meant if pattern not in used] if whole else []
    print(*(f"stale in differences.yaml, nothing differs there: {pattern}" for pattern in stale), sep="\n")
    return bool(unmeant)


def ensured(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    raise SystemExit(main())
