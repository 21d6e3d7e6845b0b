"""What the arguments of several verbs have in common: the parser class, types of values, shared arguments.

Imports nothing heavy.
"""

import argparse
from collections.abc import Callable, Collection
from typing import NoReturn

from seq2see.pretrained import DEFAULT, NAMES

ANY_MODEL = f"{', '.join(NAMES)}, a run folder, or a Hub id"


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line instead of a page of usage."""

    verbs: Collection[str] = ()

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"seq2see: error: {' '.join(message.split())} (see {self.prog} --help)\n")


def no_option(text: str) -> str:
    """Refuses the next option where a value is missing, for argparse's `type=`: newer Pythons take it for a value."""
    if text.startswith("--"):
        raise argparse.ArgumentTypeError(f"a value is missing before {text}")
    return text


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers from `low` up to `high`, for argparse's `type=`."""
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


def model_name(text: str) -> str:
    """A parser of model names, for argparse's `type=`: an empty name would mean the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; expected a model name, a run folder, or a Hub id")
    return text


def names(text: str) -> tuple[str, ...]:
    """A parser of names separated by commas, for argparse's `type=`."""
    found = tuple(one.strip() for one in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names, such as A,B")
    return found


Verbs = argparse._SubParsersAction  # of Parser; argparse gives it no public name


def add_verb(verbs: Verbs, name: str, summary: str, more: str = "") -> Parser:
    """A verb, which `seq2see.cli.NAME.run` carries out."""
    description = f"{summary[0].upper()}{summary[1:]}.\n\n{more}".strip()
    verb: Parser = verbs.add_parser(name, help=summary, description=description,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    verb.set_defaults(name=name, verb=verb)
    return verb


def add_model(verb: Parser, kind: str = "an encoder-decoder model of transformers") -> None:
    verb.add_argument("run", metavar="RUN", nargs="?", default=DEFAULT, type=model_name,
                      help=f"model to use: {ANY_MODEL} of {kind} ({DEFAULT})")


def add_languages(verb: Parser, to_help: str = "target language, as for --from (the model's first)") -> None:
    verb.add_argument("--from", dest="source", metavar="LANGUAGE",
                      help="source language: the model's own code (fra_Latn), fr, fra or French (the model's first)")
    verb.add_argument("--to", dest="target", metavar="LANGUAGE", help=to_help)


def add_files(verb: Parser) -> None:
    verb.add_argument("--src", metavar="FILE", help="source sentences, one per line")
    verb.add_argument("--tgt", metavar="FILE", help="translations of the source sentences, one per line")


def add_beams(verb: Parser) -> None:
    verb.add_argument("--num-beams", type=whole_number(1), metavar="N", help="beam width (the model's default)")


def add_engine(verb: Parser) -> None:
    verb.add_argument(
        "--engine", choices=("auto", "ctranslate2", "torch"), default="auto",
        help="auto: CTranslate2 in int8 if it is installed and supports the model, otherwise PyTorch (%(default)s)",
    )
    verb.add_argument("--trust-remote-code", action="store_true",
                      help="run the Python files in the model's folder; only this option allows it, never a settings"
                           " file")
    add_device(verb)


def add_device(verb: Parser) -> None:
    verb.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto",
                      help="device for the model; auto: a CUDA GPU if there is one, otherwise the CPU (%(default)s)")


def add_address(verb: Parser, *, port: int | None, port_help: str) -> None:
    verb.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    verb.add_argument("--port", type=whole_number(0, 65535), default=port, help=port_help)
