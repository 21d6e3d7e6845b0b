"""The arguments of every verb on the command line.  Imports nothing heavy."""

import argparse
import os
import sys
from importlib.resources import files

from seq2see import __version__
from seq2see.cli.arguments import (
    ANY_MODEL,
    Parser,
    Verbs,
    add_address,
    add_beams,
    add_device,
    add_engine,
    add_files,
    add_languages,
    add_model,
    add_verb,
    model_name,
    names,
    no_option,
    whole_number,
)
from seq2see.errors import nearest
from seq2see.folders import RUNS
from seq2see.lens.data.view_names import VIEWS
from seq2see.pretrained import DEFAULT, NAMES

EXAMPLES = """\
examples:
  seq2see demo
  echo "Where is the station?" | seq2see translate --to fr
  seq2see models
  seq2see train multi30k-en-de training.num_train_epochs=30 data.path=data/multi30k
  seq2see distil runs/multi30k-en-de data.path=data/multi30k data.target=de --out data/distilled
  seq2see evaluate runs/multi30k-en-de --data data/multi30k --split test_2016_flickr --to de
  seq2see translate storybook --to fr < in.txt > out.txt
  seq2see score storybook --to fr < pairs.tsv
  seq2see look storybook "The cat did not cross the street because it was too tired." --out look.html
  seq2see compare storybook runs/mine "The cat is tired." --html compare.html
  seq2see circuit storybook "The cat did not cross the street because it was too tired." \\
    "The cat did not cross the street because it was too wide."
  seq2see align storybook --src in.en --tgt in.fr > links.pharaoh
  seq2see measure runs/storybook
  seq2see lessons 3
  seq2see serve everyday --port 8000

Run `seq2see VERB --help` for the arguments of one verb.
"""


def build_parser() -> Parser:
    """The whole command line."""
    parser = Parser(prog="seq2see",
                    description="Train, use and look inside small translation models.",
                    epilog=EXAMPLES,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"seq2see {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", parser_class=Parser)
    for add in (
        *(add_demo, add_train, add_evaluate, add_translate, add_score, add_look, add_compare, add_circuit),
        *(add_distil, add_align, add_measure, add_export, add_lessons, add_serve, add_models, add_env),
    ):
        add(verbs)
    parser.verbs = verbs.choices
    return parser


def parse(parser: Parser, argv: list[str] | None) -> argparse.Namespace:
    [verb] = (sys.argv[1:] if argv is None else argv)[:1] or [""]
    if verb and not verb.startswith("-") and verb not in parser.verbs:
        every = f"expected one of {', '.join(parser.verbs)}"
        parser.error(f"there is no verb {verb!r}{nearest(verb, parser.verbs, otherwise=every)}")
    args, rest = parser.parse_known_args(argv)
    if "overrides" in args:  # argparse ends a list at the first option; settings may follow it
        args.overrides = [*args.overrides, *(item for item in rest if not item.startswith("-"))]
        rest = [item for item in rest if item.startswith("-")]
    if "text" in args:
        rest = settle_text(args, rest)
    if "files" in args:
        rest = settle_files(args, rest)
        if args.ray:
            args.name = "translating.ray_workers"
    if rest:
        (args.verb if "verb" in args else parser).error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def settle_text(args: argparse.Namespace, rest: list[str]) -> list[str]:
    """Sort out `[RUN] TEXT` with options between the two: argparse takes such a RUN for the TEXT and leaves the TEXT
    unparsed.  Returns the arguments that are still unparsed."""
    if args.run is None and rest and (" " in rest[0] or not rest[0].startswith("-")):
        args.run, args.text, *rest = args.text, *rest
    if args.run is None and not rest and is_model(args.text):
        args.verb.error("the following arguments are required: TEXT")
    args.run = args.run or DEFAULT
    return rest


def settle_files(args: argparse.Namespace, rest: list[str]) -> list[str]:
    """Sort out `[RUN] FILE...` with options between them: sets `args.run` and `args.files`, and returns the arguments
    that are still unparsed."""
    if any(item.startswith("-") for item in rest):
        return rest
    words = [*args.files, *rest]
    has_run = bool(words) and names_model(words[0])
    args.run, args.files = (words[0], words[1:]) if has_run else (DEFAULT, words)
    return []


def names_model(word: str) -> bool:
    """Whether the first of some words is a model, and not a file: a packaged one, a checkpoint or nothing here."""
    from seq2see.documents.formats import FORMATS

    is_here = os.path.isfile(os.path.join(word, "config.json")) or not os.path.exists(word)
    return word in NAMES or (is_here and word.rpartition(".")[2].lower() not in FORMATS)


def is_model(text: str) -> bool:
    return text in NAMES or text.startswith(f"{RUNS}/") or os.path.isdir(text)


def add_demo(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "demo", "open the page with a model",
        "By default the page shows the packaged models. Nothing is downloaded.\n"
        "If RUN is a folder without a finished model, the command first trains the small English-French model in it.\n"
        "The training takes a few minutes on two CPU cores:\n"
        "  seq2see demo --run runs/storybook",
    )
    verb.add_argument("--run", default=DEFAULT, metavar="RUN", type=model_name,
                      help=f"model to show: {', '.join(NAMES)}, or a run folder (%(default)s)")
    add_address(verb, port=None, port_help="port of the page (the first free port from 7860)")
    verb.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")


def recipes() -> str:
    """Each packaged recipe with the first line of its file."""
    lines = ["recipes (to see all settings of a recipe: seq2see train RECIPE --dry-run):"]
    for file in sorted(files("seq2see.configs").iterdir(), key=lambda file: file.name.removesuffix(".yaml")):
        if file.name.endswith(".yaml") and file.name not in ("serve.yaml", "reference.yaml"):
            lines.append(f"  {file.name[:-5]:25}{file.read_text('utf-8').partition(chr(10))[0].removeprefix('# ')}")
    return "\n".join(lines)


def add_train(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "train", "train or fine-tune a model",
        "You can override every setting on the command line:\n"
        "  seq2see train multi30k-en-de data.path=data/multi30k training.num_train_epochs=30\n\n"
        "After training, the command measures the model, as seq2see measure does (see seq2see measure --help).\n"
        "If the model learns English to French, the command also records up to 18 moments of the training, which the\n"
        "page replays (replay.json.gz). Measurements and replay add at most a fifth to the training time: the command\n"
        "uses as many sentences as fit.",
    )
    verb.epilog = recipes()
    verb.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a recipe (listed below)")
    verb.add_argument("overrides", metavar="KEY=VALUE", nargs="*", default=[], help="settings that override the file")
    verb.add_argument(
        "--dry-run", action="store_true",
        help="print all settings, the size of the model, three tokenised pairs and the number of steps; do not train",
    )
    verb.add_argument("--no-measures", action="store_true", help="do not measure the model or record a replay after"
                                                                 " training")


def add_distil(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "distil", "write a training set that adds the translations of teacher models",
        "The command writes each training pair unchanged. Then it writes each source sentence again, once for each\n"
        "teacher, with that teacher's translation. A student model learns more from this data set than from the\n"
        "original pairs:\n"
        "  seq2see distil runs/multi30k-en-de data.path=data/multi30k data.target=de --out data/distilled\n"
        "  seq2see train multi30k-en-de-fast data.path=data/distilled",
    )
    verb.add_argument("teachers", metavar="TEACHER", nargs="+",
                      help="folder of a trained Seq2See model; after the folders, settings of the data: data.KEY=VALUE")
    verb.add_argument("--out", metavar="FOLDER", required=True, help="new folder for the files train.jsonl,"
                                                                     " val.jsonl and, with test pairs, test.jsonl")
    add_device(verb)


def add_evaluate(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "evaluate", "measure the BLEU and chrF of a model",
        "The command scores the translations that seq2see translate writes, with the same engine. The output names\n"
        "the pipeline and the engine.\n\n"
        "A run is scored on its own test pairs, split off as in training. With --data, the command scores every\n"
        "pair, duplicates too, and an invalid pair is an error. A model without a run.yaml needs --data.",
    )
    add_model(verb)
    verb.add_argument("--against", metavar="MODEL", type=model_name,
                      help="also score MODEL on the same pairs, and test whether the difference is significant")
    verb.add_argument("--html", metavar="FILE",
                      help="with --against: write a page of the sentences that the two models translate most"
                           " differently")
    verb.add_argument("--data", metavar="PATH", help="file or folder of sentence pairs (the run's own data)")
    verb.add_argument("--split", help="split to score (test; the whole file if --data is one table)")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--raw", action="store_true",
                      help="give the model each source text unchanged: no segments, no protected text, no retries")
    verb.add_argument("--json", action="store_true",
                      help="print only the scores, as one JSON object on one line")
    add_engine(verb)


def add_translate(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "translate", "translate files, or standard input line by line",
        "Files: the command writes each translation beside its file (letter.docx to letter.fr.docx) or to -o, and\n"
        "prints the names of the files that it wrote. It overwrites an existing file only if -o names that file.\n"
        "  seq2see translate letter.docx page.html --to fr\n"
        "  seq2see translate everyday table.csv --columns title,text --to fr -o table-fr.csv\n\n"
        "Standard input: without files, the command translates standard input to standard output, line by line. It\n"
        "writes each line as soon as it is ready, in input order. Empty lines stay empty.\n\n"
        "Large files of lines: with --lines, each line of a file is a text of its own. A .txt file is also translated\n"
        "line by line with --resume, --jsonl, --calibrated or several target languages, or above 20 MB. The command\n"
        "writes to OUT.part until the file is complete. If it is interrupted, run it again with --resume:\n"
        "  seq2see translate corpus.en --lines --to fr --resume",
    )
    verb.add_argument("files", metavar="[RUN] FILE", nargs="*", type=model_name, default=[],
                      help=f"model, then the files to translate. RUN: {ANY_MODEL} of an encoder-decoder model of"
                           f" transformers ({DEFAULT}). The first word is RUN if it names a packaged model, a folder"
                           " with a config.json, or no existing file")
    verb.add_argument("-o", "--out", metavar="OUT",
                      help="output file, or output folder; several files need a folder (beside each file)")
    verb.add_argument("--columns", metavar="A,B", type=names, default=(),
                      help="columns of a table to translate: names in its first row, or numbers from 1"
                           " (the columns that hold mostly phrases)")
    verb.add_argument("--keys", metavar="A,B", type=names, default=(),
                      help="names of the JSON members to translate (all strings that look like text)")
    verb.add_argument("--lines", action="store_true", help="translate any file line by line, whatever its name")
    verb.add_argument("--resume", action="store_true", help="with files of lines: continue where an interrupted"
                                                            " command stopped")
    verb.add_argument("--jsonl", action="store_true",
                      help="write a JSON object for each line, with the text, its score (mean log-probability per"
                           " token) and more")
    verb.add_argument("--alternatives", type=whole_number(1), metavar="N", default=1,
                      help="with --jsonl: write the N best hypotheses with their scores (%(default)s)")
    verb.add_argument("--alignments", action="store_true",
                      help="with --jsonl: write the word alignment in Pharaoh format, as seq2see align does; needs"
                           " PyTorch")
    verb.add_argument("--glossary", metavar="FILE", help="file of terms and their translations: one term a line,"
                                                         " source TAB translation")
    verb.add_argument("--check", action="store_true",
                      help="also report words of the translation that the model finds unlikely, and source words that"
                           " may be missing from the translation; translating then takes two to three times as long")
    verb.add_argument("--report", metavar="FILE", help="write a JSON file of what became of each file: its texts, and"
                                                       " the places of those that are doubtful or stay as they are")
    add_engine(verb)
    add_languages(verb, "target language, as for --from (the model's first); fr,de writes one column for each language")
    add_beams(verb)
    verb.add_argument("--keep", metavar="REGEX", default="",
                      help="keep text that this regular expression matches unchanged, in addition to the text that"
                           " is always"
                           " protected, such as URLs")
    verb.add_argument("--calibrated", action="store_true",
                      help="begin each line with the calibrated probability that the translation equals a reference,"
                           " and a"
                           " TAB; empty for a line that is translated in parts")
    add_ray(verb)


def add_ray(verb: Parser) -> None:
    verb.add_argument("--ray", nargs=3, type=no_option, metavar=("ADDRESS", "INPUT", "OUTPUT"),
                      help="translate all files of the folder INPUT into the folder OUTPUT, on all machines of a Ray"
                           " cluster. ADDRESS: HOST:6379, or auto for the cluster of this machine. All machines must"
                           " share both folders. To continue after an interruption, run the same command again")
    verb.add_argument("--shard-lines", type=whole_number(1), default=1_000, metavar="N",
                      help="with --ray: number of lines in one task (%(default)s)")
    verb.add_argument("--cpus", type=whole_number(1), default=1, metavar="N",
                      help="with --ray: number of CPUs, and of threads, for each process that loads the model"
                           " (%(default)s)")


def add_score(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "score", "print the log-probability of given translations",
        "The command reads lines from standard input: source TAB translation. For each line it writes three columns:\n"
        "  1. the natural log-probability of the translation, with its end token and without its language tag\n"
        "  2. the mean log-probability per token\n"
        "  3. the number of tokens",
    )
    add_model(verb)
    add_languages(verb)
    verb.add_argument("--calibrated", action="store_true",
                      help="use calibrated probabilities (see seq2see measure) in place of the model's own")
    add_device(verb)


def add_look(verbs: Verbs) -> None:
    verb = add_verb(verbs, "look", "translate one text and show the attention of the model",
                    "Layers and heads count from 0. The views:\n"
                    "  raw            the attention weights\n"
                    "  norm           the norm of each value vector after projection, times its attention weight\n"
                    "  rollout        attention through all layers, with half of each layer's output from the"
                    " residual\n"
                    "  mixing         how much a layer takes from each of its inputs, including the residual\n"
                    "  contributions  mixing through all layers\n"
                    "  left_out       erasure: the drop in a token's log-probability without a source word\n"
                    "Attributions to source tokens (--kind cross) or to target tokens (--kind decoder):\n"
                    "  input_x_gradient       embedding times gradient of the log-probability\n"
                    "  integrated_gradients   the same, averaged on the path from unknown tokens to these tokens\n"
                    "  gradient_x_activation  activation times gradient, at the input of a layer\n"
                    "  occlusion              the drop in log-probability when the unknown token replaces a token\n"
                    "  value_zeroing          the drop in log-probability when no other position can read a token\n"
                    "raw and norm have one map for each head. left_out has one map, for cross-attention.")
    add_model(verb)
    add_engine(verb)
    verb.set_defaults(run=None)  # so that parse can tell whether it was given
    verb.add_argument("text", metavar="TEXT", help="text to translate")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--alternative", type=whole_number(0), default=0, metavar="N",
                      help="hypothesis to show, counted from 0, the best (%(default)s); the search uses at least N +"
                           " 1 beams")
    verb.add_argument("--view", choices=VIEWS, help="view to show (raw; a page without --view has all views of"
                                                    " attention)")
    verb.add_argument("--kind", choices=("cross", "encoder", "decoder"), default="cross",
                      help="attention to show: cross-attention, or self-attention of the encoder or decoder (cross)")
    verb.add_argument("--layer", type=whole_number(0), metavar="N", help="the layer to show, counted from 0 (the last)")
    verb.add_argument("--head", type=whole_number(0), metavar="N", help="the head to show, counted from 0 (the first)")
    verb.add_argument("--words", action="store_true",
                      help="show words, not tokens: sum the columns of a word's tokens and average the rows")
    verb.add_argument("--rows", choices=("predicts", "reads"), default="predicts",
                      help="label each row with the token that the step predicts, or the token that it reads"
                           " (%(default)s)")
    verb.add_argument("--raw", action="store_true",
                      help="show the model's own probabilities in place of calibrated ones (see seq2see measure)")
    verb.add_argument(
        "--out", metavar="FILE",
        help="write all heads as a page (.html) or as numbers (.json, .npz), or one map as a picture (.png, .svg,"
             " .pdf); if the text is translated in parts, the files are FILE-1, FILE-2 and so on",
    )


def add_compare(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "compare", "compare two models on one sentence",
        "Compare a model before and after fine-tuning, two seeds, or two sizes. The command prints:\n"
        "  - both translations\n"
        "  - the probability of each word of both translations in both models\n"
        "  - the heads of A, each with its match in B, the most different pair first\n"
        "The heads of a layer have no order. So the command matches heads of layers at the same depth, in the way"
        " that\n"
        "makes their maps of this sentence differ least in total. Layers and heads count from 0.\n"
        "To compare two models on a whole file: seq2see evaluate A --against B --html FILE",
    )
    for name in ("first", "second"):
        verb.add_argument(name, metavar="AB"[name == "second"], type=model_name, help=ANY_MODEL)
    verb.add_argument("sentence", metavar="SENTENCE", help="sentence to translate")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--html", metavar="FILE",
                      help="also write a page with the maps of the matched heads and an explorer of each model")
    add_engine(verb)


def add_circuit(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "circuit", "find the heads and feed-forward layers that carry the difference between two sentences",
        "The two sentences differ in one word (tired, wide), and so do their translations (il, elle). A part is a"
        " head\n"
        "or a feed-forward layer. Corrupting a part replaces its output by its output for OTHER.\n"
        "The command orders the parts by importance and prints the smallest circuit that keeps the --share:\n"
        "  faithfulness  the share of the difference that is left when all other parts are corrupted\n"
        "  completeness  the share that is left when only the parts of the circuit are corrupted\n"
        "Layers and heads count from 0. A circuit describes one pair of sentences.",
    )
    verb.add_argument("run", metavar="RUN", type=model_name, help=ANY_MODEL)
    verb.add_argument("sentence", metavar="SENTENCE", help="first sentence (A), whose difference the circuit keeps")
    verb.add_argument("other", metavar="OTHER", help="second sentence (B), which gives the outputs of corrupted parts")
    verb.add_argument("--translations", metavar=("FIRST", "SECOND"), nargs=2, type=no_option,
                      help="translations of the two sentences, compared at the first token that differs (the model's"
                           " own)")
    verb.add_argument("--share", type=float, default=0.9, metavar="X",
                      help="share of the difference that the circuit keeps, at most 1 (%(default)s)")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--json", action="store_true", help="print one JSON object with all parts")
    verb.add_argument("--html", metavar="FILE", help="also write a page with a drawing of the circuit, its curves"
                                                     " and all parts")
    add_engine(verb)


def add_align(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "align", "link the words of given translations, using the model's attention",
        "The command writes one line of links for each pair, in Pharaoh format (0-0 1-2). Source and target words\n"
        "count from 0, as seq2see splits them. If seq2see measure has fitted word links to gold links, the command\n"
        "uses the fitted attention maps. Otherwise it averages the heads of the last layer; the error is then unknown.",
    )
    add_model(verb)
    add_files(verb)
    add_languages(verb)
    add_device(verb)


def add_measure(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "measure", "measure how reliable a model's attention and probabilities are",
        "The command needs sentence pairs that the model was not trained on. If a run has validation and test pairs,\n"
        "the command fits on the first and reports on the second. Otherwise it fits on one half of the pairs and\n"
        "reports on the other half. It writes these files, and the page shows them from then on:\n"
        "  calibration.json  calibrated probabilities of tokens and, if they are reliable, of whole translations\n"
        "  trust.json        the faithfulness of each view: agreement with erasure, alignment error with gold links\n"
        "  heads.json        the roles that the maps suggest for each head, and its attention distance\n"
        "  alignment.json    the maps that link words best; needs gold links\n"
        "  example_pairs.json  pairs of sentences in which one word changes another: the examples of the page\n"
        "The files are written beside the model. For a packaged, downloaded or read-only model they are written to"
        " the\n"
        "user's cache. The command skips what the model or the pairs do not allow, and prints the reason.\n\n"
        "Storybook, English to French, has gold links. There the command also switches off each head, and patches it\n"
        "from sentences with the other pronoun, to measure its effect on the pronoun. Other sets of heads are the\n"
        "control.\n"
        "  seq2see measure RUN                              on the run's own held-out pairs\n"
        "  seq2see measure ORG/MODEL --data pairs.tsv       on a table whose header names the languages: en, fr\n"
        "  seq2see measure RUN --data held.en --links FILE  on the parallel files held.en and held.fr, with gold"
        " links\n"
        "  seq2see measure RUN --data storybook             on the built-in corpus",
    )
    add_model(verb)
    for option, purpose in (("--data", "pairs for choosing and fitting and, without --check, also for reporting"),
                            ("--check", "pairs for reporting")):
        verb.add_argument(option, metavar="FILE", nargs="+", default=[],
                          help=f"{purpose}: tables with one column for each language, or the source file of two"
                               " parallel files")
    verb.add_argument("--links", metavar="FILE",
                      help="gold links of the pairs in --data, one line for each pair, such as 0-0 1-2; words count"
                           " from 0")
    add_languages(verb)
    verb.add_argument("--sentences", type=whole_number(50), default=1000, metavar="N",
                      help="use at most N sentences for choosing and N for reporting (%(default)s)")
    verb.add_argument("--attributions", action="store_true",
                      help="also measure attributions, and deletion and insertion curves; integrated gradients take"
                           " seconds"
                           " for each sentence")
    add_device(verb)


def add_export(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "export", "write a model in another format",
        "The command prints the path of the export. You do not need it for `translate` or `serve`: these verbs export\n"
        "the model themselves.",
    )
    add_model(verb)
    verb.add_argument(
        "--format", choices=("ctranslate2", "transformers", "web"), default="ctranslate2",
        help="ctranslate2: for fast translation; transformers: a Pegasus model, which loads without code of Seq2See;"
             " web: the explorer and the model in one HTML file that opens from disk, or in a folder for a web server"
             " (%(default)s)",
    )
    verb.add_argument("--quantization", choices=("int8", "float16", "float32"),
                      help="type of the weights; ctranslate2: int8 or float32 (int8); web: int8 or float16 "
                           "(float16 up to 2 million weights, int8 above)")
    verb.add_argument("--out", metavar="PLACE", help="output folder (inside the model's folder); for web, a file with"
                      " the ending .html, or a folder (NAME.html up to 25 MB, NAME-page above)")
    verb.add_argument("--pair", nargs=2, action="append", default=[], metavar=("SOURCE", "TARGET"),
                      help="web: languages of the page, once for each pair (all, up to 20)")
    verb.add_argument("--vocabulary-of", metavar="FILE",
                      help="web: keep only the tokens of this text, and those of single characters; lines in all"
                           " languages of the page, in columns or not (the whole vocabulary)")


def add_lessons(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "lessons", "run the lessons, which test claims about attention, and write a page of the results",
        "The command writes DIR/lessons.json, and DIR/index.html, a page with the model inside. With a NUMBER it runs\n"
        "only that lesson, writes DIR/lesson-NUMBER.html and .json, and prints the figures. All lessons together take\n"
        "3 to 6 minutes on two cores. The models that they train are cached for the next run.",
    )
    verb.add_argument("number", metavar="NUMBER", nargs="?", type=whole_number(1, 18), help="number of the lesson to"
                                                                                            " run (all)")
    verb.add_argument("--out", default="runs/lessons", metavar="DIR", help="output folder (%(default)s)")
    verb.add_argument(
        "--run", metavar="FOLDER", type=model_name,
        help="a finished run of the built-in corpus (runs/storybook if it exists, otherwise the packaged storybook)",
    )
    verb.add_argument("--quick", action="store_true",
                      help="quick test that the lessons run; their verdicts are then not meaningful")


def add_serve(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "serve", "serve models over HTTP, with a web page",
        "The page is at /, the Gradio page at /ui. /readyz returns 200 when the models are loaded. With several\n"
        "models, the language pair of a request selects the model. The file configs/serve.yaml in the package lists\n"
        "all settings and their defaults. API keys come from a file (setting keys_file) or from the environment\n"
        "variable SEQ2SEE_API_KEYS.",
    )
    verb.add_argument("run", metavar="RUN", nargs="*", type=model_name, default=[DEFAULT],
                      help=f"one or more models: {ANY_MODEL} ({DEFAULT})")
    add_engine(verb)
    add_address(verb, port=8000, port_help="port to listen on (%(default)s)")
    verb.add_argument("--config", metavar="FILE", help="settings file in the format of configs/serve.yaml in the"
                                                       " package")
    verb.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a setting, as in the file;"
                                                                                      " you can repeat this option")


def add_models(verbs: Verbs) -> None:
    add_verb(verbs, "models", "list the packaged models with their languages, sizes and scores",
             "The models are part of the package (folder seq2see/pretrained). To use one, give its name as RUN;"
             " nothing is\n"
             "downloaded.")


def add_env(verbs: Verbs) -> None:
    add_verb(verbs, "env", "print versions and hardware, for a bug report")
