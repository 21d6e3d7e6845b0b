"""Faults of commands: one clear line on stderr, results on stdout, nothing lost."""

import sys
from typing import Any

from . import fault


@fault("an error goes to stdout", "cli.command:print_error", "cli/test_command_line.py")
def _(original: Any, message: str) -> None:
    print(f"seq2see: {message}")


@fault("every error exits with 1", "cli.command:run_verb", "cli/test_command_line.py cli/test_look.py")
def _(original: Any, args: Any) -> int:
    from seq2see.errors import UserError

    try:
        return original(args)
    except UserError as error:
        error.exit_code = 1
        raise


@fault("what is not UTF-8 is read as Latin-1", "streams:decoded", "cli/test_translate.py")
def _(original: Any, line: bytes, place: str) -> str:
    from seq2see.errors import UserError

    try:
        return original(line, place)
    except UserError:
        return line.decode("latin-1").rstrip("\r\n")


@fault("a file is translated from its beginning", "cli.lines:windows", "cli/test_translate.py")
def _(original: Any, stream: Any, check: Any) -> Any:
    if stream.seekable():
        stream.seek(0)
    return original(stream, check)


@fault("a library's warnings are results", "streams:only_results_on_stdout", "cli/test_streams.py")
def _(original: Any) -> Any:
    import contextlib

    return contextlib.redirect_stdout(sys.stderr)  # not what a library writes to file descriptor 1
