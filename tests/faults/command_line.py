"""Faults of what a command says, where it says it, and how it ends."""

from . import Fault

FAULTS = [
    Fault(
        "command: garbage is looked for among what is being imported",
        "seq2see/cli.py",
        "    gc.disable()",
        "    pass",
        tests="tests/package/test_command_line.py -k collector",
    ),
    Fault(
        "command: garbage is never looked for",
        "seq2see/cli.py",
        "        gc.enable()",
        "        pass",
        tests="tests/package/test_command_line.py -k collector",
    ),
    Fault(
        "command: words never seen pass in silence",
        "serve/commands.py",
        "if result.unknown_words:",
        "if False:",
        tests="tests/serve/test_commands.py -k unknown",
    ),
    Fault(
        "command: a translation without its end passes in silence",
        "serve/commands.py",
        "not result.hypotheses[0].finished",
        "False",
        tests="tests/serve/test_commands.py -k end",
    ),
    Fault(
        "command: a terminal is sent what a line holds",
        "serve/commands.py",
        "printable(self.first[what])",
        "self.first[what]",
        tests="tests/serve/test_commands.py -k unknown",
    ),
    Fault(
        "command: a page is imported before a busy port is told",
        "serve/commands.py",
        "    bind(args.host, args.port).close()",
        "    pass",
        tests="tests/package/test_streams.py -k busy",
    ),
    Fault(
        "command: results for a closed stdout are lost",
        "seq2see/cli.py",
        '("stdout", ClosedOutput)',
        '("stdout", partial(nothing, "w"))',
        tests="tests/package/test_streams.py -k closed",
    ),
    Fault(
        "command: help that cannot be written is lost",
        "seq2see/verbs.py",
        "if file is sys.stdout and sys.stdout.writable():",
        "if False:",
        tests="tests/package/test_streams.py -k full",
    ),
    Fault(
        "command: help for a closed stdout is an error",
        "seq2see/verbs.py",
        "file is sys.stdout and sys.stdout.writable()",
        "file is sys.stdout",
        tests="tests/package/test_streams.py -k closed",
    ),
    Fault(
        "command: an unknown argument sends to the help of all verbs",
        "seq2see/verbs.py",
        '(args.verb if "verb" in args else parser)',
        "parser",
        tests="tests/package/test_command_line.py -k wrong_use",
    ),
    Fault(
        "command: an empty name is the folder that we are in",
        "seq2see/verbs.py",
        "if not text.strip():",
        "if False:",
        tests="tests/package/test_command_line.py -k wrong_use",
    ),
    Fault(
        "page: too few values are told as Gradio does",
        "serve/page_api.py",
        "gr.Blocks.validate_inputs = _check_count",
        "",
        tests="tests/serve/test_page_api.py -k too_few",
    ),
    Fault(
        "command: a mark between joined files is a word",
        "serve/commands.py",
        'decode("utf-8-sig")',
        'decode("utf-8-sig" if number == 1 else "utf-8")',
        tests="tests/serve/test_commands.py -k byte_order",
    ),
]
