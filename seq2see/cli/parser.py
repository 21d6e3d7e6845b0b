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
    whole_number,
)
from seq2see.errors import nearest
from seq2see.folders import RUNS
from seq2see.lens.views import VIEWS
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

`seq2see VERB --help` describes one verb.
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
            args.name = "translate_on_ray"
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
        "Nothing is downloaded. If RUN is a folder without a finished run, as in\n"
        "  seq2see demo --run runs/storybook\n"
        "the built-in English-French model is first trained there: a few minutes on two CPU cores.",
    )
    verb.add_argument("--run", default=DEFAULT, metavar="RUN", type=model_name,
                      help=f"{', '.join(NAMES)}, or a run folder (%(default)s)")
    add_address(verb, port=None, port_help="port of the page (the first free port from 7860)")
    verb.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")


def recipes() -> str:
    """Each packaged recipe with the first line of its file."""
    lines = ["recipes (--dry-run shows every setting of one):"]
    for file in sorted(files("seq2see.configs").iterdir(), key=lambda file: file.name.removesuffix(".yaml")):
        if file.name.endswith(".yaml") and file.name not in ("serve.yaml", "reference.yaml"):
            lines.append(f"  {file.name[:-5]:25}{file.read_text('utf-8').partition(chr(10))[0].removeprefix('# ')}")
    return "\n".join(lines)


def add_train(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "train", "train or fine-tune a model",
        "Every setting can be overridden on the command line, for example\n"
        "  seq2see train multi30k-en-de data.path=data/multi30k training.num_train_epochs=30\n\n"
        "After training, the model is measured as by seq2see measure: the calibration of its probabilities, the\n"
        "faithfulness of each view, the roles of heads and, on the built-in corpus, word links and what each head\n"
        "does for the pronoun. English to French also records 18 moments of the training (replay.json.gz).\n"
        "Together these add at most a fifth to the training time, with as many sentences as fit into it.",
    )
    verb.epilog = recipes()
    verb.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a recipe below")
    verb.add_argument("overrides", metavar="KEY=VALUE", nargs="*", default=[], help="settings that override the file")
    verb.add_argument(
        "--dry-run", action="store_true",
        help="show the whole configuration, the model's size, three tokenised pairs and the steps; train nothing",
    )
    verb.add_argument("--no-measures", action="store_true", help="skip the measurements and the replay")


def add_distil(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "distil", "write a data set with translations of the training pairs by teachers",
        "Each training pair is written as it is and, once for each teacher, with that model's translation. A student\n"
        "learns more from it than from the pairs alone:\n"
        "  seq2see distil runs/multi30k-en-de data.path=data/multi30k data.target=de --out data/distilled\n"
        "  seq2see train multi30k-en-de-fast data.path=data/distilled",
    )
    verb.add_argument("teachers", metavar="TEACHER", nargs="+",
                      help="folder of a trained Seq2See model; also a setting of the data section, data.KEY=VALUE")
    verb.add_argument("--out", metavar="FOLDER", required=True, help="a new folder for train.jsonl, val.jsonl ...")
    add_device(verb)


def add_evaluate(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "evaluate", "measure BLEU and chrF of a model",
        "Scores what seq2see translate writes, with the same engine. The output names the pipeline and the engine.\n"
        "A table is split as in training. With --data no pair is left out, whatever the run's settings say:\n"
        "duplicates are scored too, and an invalid pair is an error. A model without run.yaml needs --data.",
    )
    add_model(verb)
    verb.add_argument("--against", metavar="MODEL", type=model_name,
                      help="score another model on the same pairs too, and test the difference")
    verb.add_argument("--html", metavar="FILE",
                      help="with --against: write a page of the sentences that the two translate most differently")
    verb.add_argument("--data", metavar="PATH", help="a file or a folder of pairs (the run's own data)")
    verb.add_argument("--split", help="split to evaluate (test; all of it if --data is one table)")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--raw", action="store_true",
                      help="give the model each source whole and as it is: no segments, no protected text, no retries")
    verb.add_argument("--json", action="store_true",
                      help="print no tables, only the last line, the scores as one JSON object")
    add_engine(verb)


def add_translate(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "translate", "translate files, or standard input line by line",
        "With files, writes each beside itself (letter.docx to letter.fr.docx) or to -o, and prints what was written:\n"
        "  seq2see translate letter.docx page.html --to fr\n"
        "  seq2see translate everyday table.csv --columns title,text --to fr -o table-fr.csv\n"
        "An existing file is overwritten only if -o names it. Without files, translates standard input to standard\n"
        "output: each line as soon as it is ready, in input order, and empty lines stay empty.\n\n"
        "With --lines, a file is translated line by line, whatever its name and size; a .txt file also with --resume,\n"
        "--jsonl, --calibrated or several targets, or of more than 20 MB. The lines are in OUT.part until all are\n"
        "there; after a kill, the same command with --resume goes on:\n"
        "  seq2see translate corpus.en --lines --to fr --resume",
    )
    verb.add_argument("files", metavar="[RUN] FILE", nargs="*", type=model_name, default=[],
                      help=f"RUN: {ANY_MODEL}; any encoder-decoder of transformers ({DEFAULT}). It is the first word if"
                           " that names a packaged model, a folder with a config.json or nothing here. The others are"
                           " files to translate")
    verb.add_argument("-o", "--out", metavar="OUT",
                      help="output file, or a folder, which several files need (beside each file)")
    verb.add_argument("--columns", metavar="A,B", type=names, default=(),
                      help="columns of a table to translate: names in its first row, or numbers from 1"
                           " (those with phrases)")
    verb.add_argument("--keys", metavar="A,B", type=names, default=(),
                      help="members of JSON to translate, by their names (all strings that look like text)")
    verb.add_argument("--lines", action="store_true", help="each line of a file is a text, whatever its name")
    verb.add_argument("--resume", action="store_true", help="with files of lines: go on where a killed command stopped")
    verb.add_argument("--jsonl", action="store_true",
                      help="write a JSON object for each line: text, score (mean log-probability per token) and others")
    verb.add_argument("--alternatives", type=whole_number(1), metavar="N", default=1,
                      help="with --jsonl: the best N hypotheses, with their scores (%(default)s)")
    verb.add_argument("--alignments", action="store_true",
                      help="with --jsonl: the word alignment in Pharaoh format, as of seq2see align; needs torch")
    verb.add_argument("--glossary", metavar="FILE", help="terms to translate as given: lines of source TAB translation")
    add_engine(verb)
    add_languages(verb, "target language, likewise (the model's first); with several, fr,de, each line has columns")
    add_beams(verb)
    verb.add_argument("--keep", metavar="REGEX", default="",
                      help="keep what this regular expression matches as it is, beside what is protected anyway")
    verb.add_argument("--calibrated", action="store_true",
                      help="begin each line with the calibrated chance that a reference is identical, and a TAB; a line"
                      " translated in parts has none")
    add_ray(verb)


def add_ray(verb: Parser) -> None:
    verb.add_argument("--ray", nargs=3, metavar=("ADDRESS", "INPUT", "OUTPUT"),
                      help="translate each file of the folder INPUT into one of the same name in the folder OUTPUT, on"
                      " all machines of the Ray cluster at ADDRESS (HOST:6379, or auto: that of this machine), which"
                      " share both folders; the same command again goes on where it was stopped")
    verb.add_argument("--shard-lines", type=whole_number(1), default=1_000, metavar="N",
                      help="with --ray: lines of one task (%(default)s)")
    verb.add_argument("--cpus", type=whole_number(1), default=1, metavar="N",
                      help="with --ray: CPUs, and threads of the engine, of each process that loads the model"
                      " (%(default)s)")


def add_score(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "score", "print the log-probability of given translations",
        "Reads lines of two columns from standard input, source TAB translation, and writes three columns for each:\n"
        "the natural log-probability of the translation and its end (the language tag counts 0), the same per token,\n"
        "and the number of tokens.",
    )
    add_model(verb)
    add_languages(verb)
    verb.add_argument("--calibrated", action="store_true",
                      help="use calibrated probabilities (see seq2see measure), not the model's own")
    add_device(verb)


def add_look(verbs: Verbs) -> None:
    verb = add_verb(verbs, "look", "translate one text and show where the model attended",
                    "Layers and heads count from 0. The views:\n"
                    "  raw            the attention weights\n"
                    "  norm           the lengths of the weighted, projected values\n"
                    "  rollout        attention through all layers, if each takes half of its output from its input\n"
                    "  mixing         what a layer takes from each of its inputs, including the residual\n"
                    "  contributions  the same through all layers\n"
                    "  left_out       erasure: the fall in log-probability of each token without a source word\n"
                    "Attributions, of source tokens (--kind cross) and of what was written (--kind decoder):\n"
                    "  input_x_gradient       embedding times gradient of the log-probability\n"
                    "  integrated_gradients   the same on the way from unknown tokens\n"
                    "  gradient_x_activation  the same for the states that a layer reads\n"
                    "  occlusion              the fall in log-probability with the unknown token in a token's place\n"
                    "  value_zeroing          the fall if no other position reads anything of a token\n"
                    "Only raw and norm have one map per head; left_out is one map of cross-attention.")
    add_model(verb)
    add_engine(verb)
    verb.set_defaults(run=None)  # so that parse can tell whether it was given
    verb.add_argument("text", metavar="TEXT", help="what to translate")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--alternative", type=whole_number(0), default=0, metavar="N",
                      help="which hypothesis (0: the best); the search has at least N + 1 beams")
    verb.add_argument("--view", choices=VIEWS, help="what to show (raw; a page has all views)")
    verb.add_argument("--kind", choices=("cross", "encoder", "decoder"), default="cross",
                      help="which attention (cross)")
    verb.add_argument("--layer", type=whole_number(0), metavar="N", help="the layer to show, counted from 0 (the last)")
    verb.add_argument("--head", type=whole_number(0), metavar="N", help="the head to show, counted from 0 (the first)")
    verb.add_argument("--words", action="store_true",
                      help="a map over words: columns of a word's tokens are summed, rows averaged")
    verb.add_argument("--rows", choices=("predicts", "reads"), default="predicts",
                      help="name a row by the token its step predicts, or by the one it reads (%(default)s)")
    verb.add_argument("--raw", action="store_true",
                      help="show the model's own probabilities, not calibrated ones (see seq2see measure)")
    verb.add_argument(
        "--out", metavar="FILE",
        help="write all heads to a page (.html) or as numbers (.json, .npz), or one map as a picture (.png, .svg);"
             " a text translated in parts gives FILE-1, FILE-2 and so on",
    )


def add_compare(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "compare", "lay two models side by side on one sentence",
        "Before and after fine-tuning, two seeds, two sizes: what each writes, how probable each finds both\n"
        "translations, word by word, and which heads changed. Heads of a layer have no order, so each is matched with\n"
        "the one of the other model whose maps of this sentence differ least in all, within layers of the same depth.\n"
        "Layers and heads count from 0. Over a file: seq2see evaluate A --against B --html FILE.",
    )
    for name in ("first", "second"):
        verb.add_argument(name, metavar="AB"[name == "second"], type=model_name, help=ANY_MODEL)
    verb.add_argument("sentence", metavar="SENTENCE", help="what to translate")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--html", metavar="FILE",
                      help="write a page, with the maps of the matched heads and both explorers")
    add_engine(verb)


def add_circuit(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "circuit", "find the few heads and feed-forward layers that carry what distinguishes two sentences",
        "The two sentences differ in a word, and their translations in another: tired and wide, il and elle. To\n"
        "corrupt a part is to put in what it gives in OTHER. Prints the fewest parts, in order of their worth, that\n"
        "keep the wanted share of the difference by themselves, all others corrupted (faithfulness), and what is left\n"
        "with exactly these corrupted (completeness). Layers and heads count from 0. A circuit is one pair's.",
    )
    verb.add_argument("run", metavar="RUN", type=model_name, help=ANY_MODEL)
    verb.add_argument("sentence", metavar="SENTENCE", help="the sentence whose difference is kept")
    verb.add_argument("other", metavar="OTHER", help="the sentence that parts are corrupted from")
    verb.add_argument("--translations", metavar=("FIRST", "SECOND"), nargs=2,
                      help="translations of the two to compare at the first token that differs (the model's own)")
    verb.add_argument("--share", type=float, default=0.9, metavar="X",
                      help="the share of the difference that the circuit keeps, up to 1 (%(default)s)")
    add_languages(verb)
    add_beams(verb)
    verb.add_argument("--json", action="store_true", help="print one JSON object, with every part")
    verb.add_argument("--html", metavar="FILE", help="write a page: the circuit drawn, its curves and every part")
    add_engine(verb)


def add_align(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "align", "link the words of given translations, by the model's attention",
        "Writes one line of links for each pair in Pharaoh format: 0-0 1-2, source and target words counted from 0,\n"
        "as seq2see splits them. Where seq2see measure has had gold links, it knows which maps link words,\n"
        "and with which weights. Otherwise the heads of the last layer are averaged, with unknown error.",
    )
    add_model(verb)
    add_files(verb)
    add_languages(verb)
    add_device(verb)


def add_measure(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "measure", "measure how far a model's attention and probabilities can be relied on",
        "On sentence pairs that the model was not trained on: half of them to choose or fit, the others to report, or\n"
        "validation and test pairs where the run has both. Writes these files, which the page shows from then on:\n"
        "  calibration.json  calibrated probabilities, and the chance that a reference is the same, if it holds\n"
        "  trust.json        the faithfulness of each view: agreement with erasure, alignment error with gold links\n"
        "  heads.json        the roles that maps suggest for each head, and how far it looks\n"
        "  alignment.json    which maps link words best; with gold links only\n"
        "They lie beside the model or, if its folder is packaged, a download or read-only, in the user's cache. What\n"
        "the model or the pairs do not allow is left out, and a line says why. On storybook, English to French, gold\n"
        "links are known, and each head is switched off, and patched from sentences with the other pronoun, to see\n"
        "what it does for the pronoun; other sets of heads are the control.\n"
        "  seq2see measure RUN                              on the run's own held-out pairs\n"
        "  seq2see measure ORG/MODEL --data pairs.tsv       on other pairs; a header, en and fr, names languages\n"
        "  seq2see measure RUN --data held.en --links FILE  on held.en and held.fr, with gold links\n"
        "  seq2see measure RUN --data storybook",
    )
    add_model(verb)
    for option, purpose in (("--data", "pairs to choose and fit on, and to report on without --check"),
                            ("--check", "pairs to report on")):
        verb.add_argument(option, metavar="FILE", nargs="+", default=[],
                          help=f"{purpose}: tables with a column for each language, or one of two parallel files")
    verb.add_argument("--links", metavar="FILE",
                      help="gold links of the pairs in --data, a line for each, such as 0-0 1-2: words counted from 0")
    add_languages(verb)
    verb.add_argument("--sentences", type=whole_number(50), default=1000, metavar="N",
                      help="use at most N sentences for choosing and N for reporting (%(default)s)")
    verb.add_argument("--attributions", action="store_true",
                      help="measure attributions as views too, and deletion and insertion curves; integrated gradients"
                           " take seconds a sentence")
    add_device(verb)


def add_export(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "export", "write a model in another format",
        "For use elsewhere: `translate` and `serve` export what they need themselves. Prints what was written.",
    )
    add_model(verb)
    verb.add_argument(
        "--format", choices=("ctranslate2", "transformers", "web"), default="ctranslate2",
        help="transformers: a Pegasus model, which needs no code of ours; web: the explorer with the model inside, one "
             "HTML file that opens from disk (%(default)s)",
    )
    verb.add_argument("--quantization", choices=("int8", "float16", "float32"),
                      help="type of the weights: for ctranslate2 int8 or float32 (int8), for web int8 or float16 "
                           "(float16 up to 2 million weights)")
    verb.add_argument("--out", metavar="PLACE", help="output folder (in the folder of the model), or file (NAME.html)")


def add_lessons(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "lessons", "run the lessons, which test claims about attention, and write a page that has them",
        "Writes DIR/lessons.json, and DIR/index.html, one file with the model inside. With a NUMBER, runs only that\n"
        "lesson, writes DIR/lesson-NUMBER.html and .json, and prints its figures. All take 3 to 6 minutes on two\n"
        "cores. Models trained for them are cached for the next run.",
    )
    verb.add_argument("number", metavar="NUMBER", nargs="?", type=whole_number(1, 18), help="number of a lesson (all)")
    verb.add_argument("--out", default="runs/lessons", metavar="DIR", help="output folder (%(default)s)")
    verb.add_argument(
        "--run", metavar="FOLDER", type=model_name,
        help="a finished run of the built-in corpus to look into (runs/storybook, or the packaged storybook)",
    )
    verb.add_argument("--quick", action="store_true",
                      help="smoke test on a small budget; the verdicts mean nothing")


def add_serve(verbs: Verbs) -> None:
    verb = add_verb(
        verbs, "serve", "serve models to clients, and on a page",
        "The page is at /, Gradio's at /ui; /readyz answers 200 when the models are loaded. With several models,\n"
        "the language pair selects one. configs/serve.yaml in the package has every setting with its default.\n"
        "API keys come from a file (keys_file) or from the environment variable SEQ2SEE_API_KEYS.",
    )
    verb.add_argument("run", metavar="RUN", nargs="*", type=model_name, default=[DEFAULT],
                      help=f"{ANY_MODEL}; one or more ({DEFAULT})")
    add_engine(verb)
    add_address(verb, port=8000, port_help="port to listen on (%(default)s)")
    verb.add_argument("--config", metavar="FILE", help="a settings file, like configs/serve.yaml in the package")
    verb.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a setting; may be repeated")


def add_models(verbs: Verbs) -> None:
    add_verb(verbs, "models", "list the packaged models, with their languages, sizes and scores",
             "They are part of the package (folder seq2see/pretrained), and nothing is downloaded: give a name as RUN.")


def add_env(verbs: Verbs) -> None:
    add_verb(verbs, "env", "print versions and hardware, for a bug report")
