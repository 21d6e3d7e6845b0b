"""The `seq2see` command: it parses, runs one verb, and turns whatever goes wrong into one line and an exit code.

The verbs live with their subjects and are imported only when they run, so that `--help` answers at once.
Exit codes: 0 done, 1 failed, 2 used wrongly, 130 on Ctrl-C, 141 when whoever read our output is gone, 143 on SIGTERM.
"""

import argparse
import io
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import NoReturn

from seq2see import __version__
from seq2see.errors import UserError

# Which extra brings a package that the base install does without.
EXTRA_OF = {
    **dict.fromkeys(("gradio", "fastapi", "uvicorn", "prometheus_client", "py3langid"), "serve"),
    "ctranslate2": "fast",
    "peft": "lora",
}

VIEWS = ("raw", "norm", "rollout", "mixing", "contributions", "left_out")  # lens.VIEWS, which would import torch

EXAMPLES = """\
examples:
  seq2see demo
  seq2see train configs/multi30k-en-de.yaml training.num_train_epochs=30 data.path=data/multi30k
  seq2see evaluate runs/multi30k-en-de --data data/multi30k --split test_2016_flickr --to de
  seq2see translate runs/storybook --to fr < in.txt > out.txt
  seq2see score runs/storybook --to fr < pairs.tsv
  seq2see look runs/storybook "The cat did not cross the street because it was too tired." --out look.html
  seq2see align runs/storybook --src in.en --tgt in.fr > links.pharaoh
  seq2see heads runs/storybook
  seq2see lessons 3
  seq2see serve runs/storybook --port 8000

`seq2see VERB --help` says more about one verb.
"""


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake costs one line, not a page of usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"seq2see: error: {' '.join(message.split())} (see {self.prog} --help)\n")


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers from `low` up to `high`, for argparse's `type=`."""
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}") from None
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"{number} is not {wanted}")
        return number

    return read


def build_parser() -> Parser:
    """The whole command line. Each verb's `function` says where its work is done, as `module:function`."""
    parser = Parser(
        prog="seq2see",
        description="Train, use and look inside small translation models.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"seq2see {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", parser_class=Parser)

    def verb(name: str, function: str, summary: str, more: str = "") -> Parser:
        command: Parser = verbs.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.\n\n{more}".strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(function=function)
        return command

    demo = verb(
        "demo",
        "seq2see.demo:demo",
        "train the small built-in English-French model, if it is not there yet, and open the page on it",
        "Training takes a few minutes on two CPU cores, once. Nothing is downloaded.",
    )
    demo.add_argument("--run", default="runs/storybook", metavar="FOLDER", help="the model's folder (%(default)s)")
    add_address(demo, port=None, port_help="port of the page (the first free one from 7860)")
    demo.add_argument("--no-browser", action="store_true", help="print the address, open no browser")

    train = verb(
        "train",
        "seq2see.training.run:train",
        "train or fine-tune a model as a configuration says",
        "Every setting can be changed on the command line, for example\n"
        "  seq2see train multi30k-en-de data.path=data/multi30k training.num_train_epochs=30",
    )
    train.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a packaged one (storybook)")
    train.add_argument("overrides", metavar="KEY=VALUE", nargs="*", help="settings that replace those of the file")
    train.add_argument(
        "--dry-run", dest="function", action="store_const", const="seq2see.training.preview:preview",
        help="show the whole configuration, the model's size, three tokenised pairs and the steps; train nothing",
    )

    evaluate = verb("evaluate", "seq2see.training.evaluation:evaluate", "measure a model by BLEU and chrF")
    add_model(evaluate)
    evaluate.add_argument("--data", metavar="PATH", help="a file or a folder of pairs (the run's own data)")
    evaluate.add_argument("--split", default="test", help="the part of the data to measure on (%(default)s)")
    add_languages(evaluate)
    add_beams(evaluate)
    evaluate.add_argument("--json", action="store_true", help="print nothing but the last line, one JSON object")

    translate = verb(
        "translate",
        "seq2see.serve.commands:translate",
        "translate standard input to standard output, line by line",
        "Lines come out in the order in which they went in, as soon as they are ready. An empty line stays empty.",
    )
    add_model(translate)
    add_engine(translate)
    add_languages(translate)
    add_beams(translate)

    score = verb(
        "score",
        "seq2see.serve.commands:score",
        "say how probable the model finds given translations",
        "Reads lines of two columns, source TAB translation, and writes one of three for each, in order:\n"
        "the log-probability of the translation's pieces and its end (natural logarithm, the language tag given),\n"
        "the same per token, and the number of tokens.",
    )
    add_model(score)
    add_languages(score)

    look = verb(
        "look",
        "seq2see.serve.look:look",
        "translate one text and show where the model attended",
        "Layers and heads count from 0. The views:\n"
        "  raw            the attention weights themselves\n"
        "  norm           the lengths of the vectors that they bring\n"
        "  rollout        where content comes from through all layers, if each passes on half of it\n"
        "  mixing         what one layer takes from where, its own state among it\n"
        "  contributions  the same through all layers\n"
        "  left_out       how much less probable each piece is without a source word\n"
        "Only raw and norm have heads; left_out is one map of cross-attention.",
    )
    add_model(look)
    add_engine(look)
    look.add_argument("text", metavar="TEXT", help="what to translate")
    add_languages(look)
    add_beams(look)
    look.add_argument("--alternative", type=whole_number(0), default=0, metavar="N", help="which hypothesis (0: best)")
    look.add_argument("--view", choices=VIEWS, help="what to show (raw; a page gets all of them)")
    look.add_argument(
        "--kind", choices=("cross", "encoder", "decoder"), default="cross", help="which attention (cross)"
    )
    look.add_argument("--layer", type=whole_number(0), metavar="N", help="the layer to show, counted from 0 (the last)")
    look.add_argument("--head", type=whole_number(0), metavar="N", help="the head to show, counted from 0 (the first)")
    look.add_argument(
        "--words", action="store_true", help="a map over words: sums over key pieces, means over query pieces"
    )
    look.add_argument(
        "--rows", choices=("predicts", "reads"), default="predicts",
        help="name a row by the piece its step predicts, or by the one it reads (%(default)s)",
    )
    look.add_argument(
        "--out", metavar="FILE",
        help="write every head to a page (.html) or as numbers (.json, .npz), or the one map as a picture (.png, .svg);"
             " of a text translated in parts a file for each, FILE-1 and so on",
    )

    align = verb(
        "align",
        "seq2see.align:align",
        "say which words of given translations belong together, by the model's attention",
        "Writes a line of links for each pair, as Pharaoh does: 0-0 1-2, words of source and target from 0 as seq2see\n"
        "splits them. Which maps are read, and how each is weighed, is in RUN/alignment.json, fitted by\n"
        "  seq2see align RUN --fit                                      a model of the built-in corpus\n"
        "  seq2see align RUN --fit --src dev.en --tgt dev.fr --links dev.pharaoh\n"
        "Without it the last layer's heads are averaged, and nobody knows the error.\n\n"
        "How far to trust each view of attention is measured likewise, and shown with it from then on, by\n"
        "  seq2see align RUN --trust                                    a model of the built-in corpus\n"
        "  seq2see align RUN --trust --src held.en --tgt held.fr [--links held.pharaoh]",
    )
    add_model(align)
    align.add_argument("--src", metavar="FILE", help="the sources, one a line")
    align.add_argument("--tgt", metavar="FILE", help="their translations, one a line")
    add_languages(align)
    align.add_argument("--fit", action="store_true", help="fit the choice on sentences with known links, and keep it")
    align.add_argument("--trust", action="store_true", help="measure on held-out sentences how far to trust each view")
    align.add_argument("--links", metavar="FILE", help="with --fit or --trust: the known links of the two files")

    heads = verb(
        "heads",
        "seq2see.heads:heads",
        "say what each attention head does for the pronoun, and which role its attention claims",
        "Heads are switched off one by one, and put in from sentences of the other pronoun; random sets of heads are\n"
        "the control. Measured on the built-in English-French corpus; takes a few minutes.",
    )
    add_model(heads)
    heads.add_argument(
        "--json", metavar="FILE", help="write all figures to this file; RUN/heads.json makes badges on the page"
    )
    heads.add_argument(
        "--sentences", type=whole_number(50), metavar="N", help="at most N to choose on and N to report on (all)"
    )

    export = verb(
        "export",
        "seq2see.serve.export:export",
        "write a model in another format",
        "What `translate` and `serve` use is exported by itself; this is for use elsewhere. Prints the folder.",
    )
    add_model(export)
    export.add_argument(
        "--format", choices=("ctranslate2", "endpoint"), default="ctranslate2",
        help="endpoint: a handler.py for Hugging Face Inference Endpoints, beside the model (%(default)s)",
    )
    export.add_argument("--quantization", choices=("int8", "float32"), default="int8", help="of weights (%(default)s)")
    export.add_argument("--out", metavar="FOLDER", help="where to (beside the checkpoint)")

    lessons = verb(
        "lessons",
        "seq2see.lessons.command:lessons",
        "run the lessons: each claim about attention measured, with its number and picture, on one page",
        "Writes DIR/index.html, which needs nothing else, and DIR/lessons.json. With a NUMBER that lesson alone, as\n"
        "DIR/lesson-NUMBER.html and .json, and its figures to the terminal. All lessons take some twenty minutes on\n"
        "two cores; what was trained for them is kept, and is there the next time.",
    )
    lessons.add_argument("number", metavar="NUMBER", nargs="?", type=whole_number(1, 18), help="one lesson (all)")
    lessons.add_argument("--out", default="runs/lessons", metavar="DIR", help="where to (%(default)s)")
    lessons.add_argument(
        "--run", metavar="FOLDER",
        help="the model to look into, of the built-in corpus (runs/storybook, trained first if it is not there yet)",
    )
    lessons.add_argument(
        "--quick", action="store_true",
        help="as little work as shows that all lessons run, on a hardly trained model: the verdicts mean nothing",
    )

    serve = verb(
        "serve",
        "seq2see.serve.commands:serve",
        "serve models to clients and on a page",
        "The page is at /ui, /readyz tells when the models are loaded. The languages asked for choose the model.\n"
        "Every setting, with its default, is in the packaged serve.yaml. API keys come from a file (keys_file) or\n"
        "from the variable SEQ2SEE_API_KEYS.",
    )
    serve.add_argument("run", metavar="RUN", nargs="+", help="a run's folder, or a Hub id; or several of them")
    add_engine(serve)
    add_address(serve, port=8000, port_help="port to listen on (%(default)s)")
    serve.add_argument("--config", metavar="FILE", help="settings, as in the packaged serve.yaml")
    serve.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="one setting; may be repeated")

    verb("env", "seq2see.env:env", "print the versions and the machine, for a bug report")
    return parser


def parse(parser: Parser, argv: list[str] | None) -> argparse.Namespace:
    args, rest = parser.parse_known_args(argv)
    if "overrides" in args:  # argparse closes a list of any length at the first option; settings may follow it
        args.overrides += [item for item in rest if not item.startswith("-")]
        rest = [item for item in rest if item.startswith("-")]
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def add_model(command: Parser) -> None:
    command.add_argument(
        "run", metavar="RUN", help="a run's folder, or a Hub id; any transformers encoder-decoder will do"
    )


def add_languages(command: Parser) -> None:
    command.add_argument("--from", dest="source", metavar="LANGUAGE", help="language of the input (the model's first)")
    command.add_argument("--to", dest="target", metavar="LANGUAGE", help="language of the output (the model's first)")


def add_beams(command: Parser) -> None:
    command.add_argument("--num-beams", type=whole_number(1), metavar="N", help="beams of the search (the model's own)")


def add_engine(command: Parser) -> None:
    command.add_argument(
        "--engine", choices=("auto", "ctranslate2", "torch"), default="auto",
        help="what translates: CTranslate2 in int8 where it is installed and holds the model, or torch (%(default)s)",
    )  # fmt: skip


def add_address(command: Parser, *, port: int | None, port_help: str) -> None:
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    command.add_argument("--port", type=whole_number(0, 65535), default=port, help=port_help)


def prepare_process() -> None:
    """Set what every verb wants before anything heavy is imported: no telemetry, no chatter, UTF-8 on every stream."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by whoever started us: the next file would get its number
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    if not sys.warnoptions and not debugging():
        warnings.simplefilter("ignore")
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):  # not so under pytest and in notebooks
            stream.reconfigure(encoding="utf-8", errors=errors)


def debugging() -> bool:
    return os.environ.get("SEQ2SEE_DEBUG", "") not in ("", "0")


def stop_on_sigterm(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def run_verb(args: argparse.Namespace) -> int:
    """Import the verb's function and call it; a missing optional package becomes advice."""
    module, name = args.function.split(":")
    try:
        return getattr(import_module(module), name)(args) or 0
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF:
            raise
        advice = f"{package} is not installed: pip install 'seq2see[{EXTRA_OF[package]}]'"
        raise UserError(f"this command needs an optional part: {advice}") from error


def describe(error: Exception) -> str:
    """One line for the user: what is wrong, where, and how to mend it."""
    if isinstance(error, UserError):
        return f"error: {error}"
    if isinstance(error, OSError):
        where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
        return f"error: {error.strerror or error}{where}"
    if isinstance(error, UnicodeDecodeError):
        return f"error: the input is not UTF-8 ({error}): convert it, for example with iconv -f LATIN1 -t UTF-8"
    advice = "run again with SEQ2SEE_DEBUG=1 to see where, and send that with the output of `seq2see env`"
    return f"internal error: {type(error).__name__}: {error} ({advice})"


def complain(message: str) -> None:
    print(f"seq2see: {' '.join(message.split())}", file=sys.stderr, flush=True)


def drop_output() -> None:
    """Let what could not be written go nowhere: Python flushes at exit, and would complain of it once more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return the exit code."""
    prepare_process()
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, stop_on_sigterm) if in_main_thread else None
    try:
        try:
            parser = build_parser()
            args = parse(parser, argv)
            if "function" not in args:
                parser.print_help(sys.stderr)
                return 2
            return run_verb(args)
        finally:
            sys.stdout.flush()  # here, so that a reader who has gone is noticed while we can still be quiet about it
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except BrokenPipeError:
        drop_output()
        return 141
    except Exception as error:
        if debugging():
            traceback.print_exception(error)
        complain(describe(error))
        drop_output()
        return error.exit_code if isinstance(error, UserError) else 1
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, before)
