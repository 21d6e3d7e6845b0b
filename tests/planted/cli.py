"""Slips in commands: one clear line on stderr, results on stdout, nothing lost."""

from contextlib import nullcontext

from . import fault


@fault("cli.command.print_error", "cli/test_command_line.py")
def an_error_goes_to_stdout(original, message):
    print(f"seq2see: {message}")


@fault("errors.UserError.__init__", "cli/test_command_line.py", "cli/test_look.py")
def every_error_exits_with_1(original, self, message, *, exit_code=1):
    original(self, message)


@fault("streams.decoded", "cli/test_translate.py")
def bytes_that_are_not_utf8_are_replaced(original, line, place):
    return line.rstrip(b"\r\n").decode("utf-8-sig", errors="replace")


@fault("cli.lines.windows", "cli/test_translate.py")
def a_file_is_translated_from_its_beginning(original, stream, check):
    if stream.seekable():
        stream.seek(0)
    return original(stream, check)


@fault("streams.only_results_on_stdout", "cli/test_streams.py")
def what_a_library_prints_is_a_result(original):
    return nullcontext()
